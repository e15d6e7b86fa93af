// y = tanh(x), entry by entry                    x, y: R x C
//
//   y = tanh x
//   dx = dy / cosh² x = dy (1 - y²)
//
// The first form is used: 1 - y² is 0 in floating point from x = 19 on, the true slope is not.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct TanhOp final : Op {
  const char* name() const override { return "tanh"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 3, kCurve + 5); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::tanh, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::tanh, x, y, dy, dx, s.adds[0]);
  }
};

Var tanh(Var x, Where where) {
  require_same_tape("tanh", {{"matrix", x}});
  return x.tape->record<TanhOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
