// y = sqrt(x), entry by entry                    x, y: R x C
//
//   y = √x
//   dx = dy / 2y
//
// At 0 the slope is infinite; where dy is 0 nothing is sent back all the same.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SqrtOp final : Op {
  const char* name() const override { return "sqrt"; }
  const char* hazard() const override { return "the root of a negative number is nan, and the slope of the root at 0 is infinite"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 3); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::sqrt, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::sqrt, x, y, dy, dx, s.adds[0]);
  }
};

Var sqrt(Var x, Where where) {
  require_same_tape("sqrt", {{"matrix", x}});
  return x.tape->record<SqrtOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
