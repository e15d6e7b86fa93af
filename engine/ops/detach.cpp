// y = x, but as a constant                  x, y: R x C
//
//   y_ij = x_ij               nothing goes back
//
// In a replay y keeps the value that it had: to the gradient checker it is a constant, as it is to backward.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DetachOp final : Op {
  const char* name() const override { return "detach"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 0, 0); }
  void forward(Step& s) override {
    if (s.decide) s.be.copy(s.x[0], s.y);
  }
  void backward(Step&) override {}  // never called: the line wants no gradient
};

Var detach(Var x, Where where) {
  require_same_tape("detach", {{"matrix", x}});
  const bool recording = x.tape->recording;
  x.tape->recording = false;
  const Var y = x.tape->record<DetachOp>(x.shape(), {x}, where);
  x.tape->recording = recording;
  return y;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
