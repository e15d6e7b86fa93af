// y = exp(x), entry by entry                x, y: R x C
//
//   y_ij = e^(x_ij)           dx = dy ∘ y    e^x is its own derivative; where dy is 0, dx is 0 even if y is infinite
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ExpOp final : Op {
  const char* name() const override { return "exp"; }
  const char* hazard() const override { return "exp of more than 709.78 (88.72 in float) is too large for the number type; subtract the row maximum first, as softmax does"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve, 2); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::exp, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::exp, x, y, dy, dx, s.adds[0]);
  }
};

Var exp(Var x, Where where) {
  require_same_tape("exp", {{"matrix", x}});
  return x.tape->record<ExpOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
