// y = softplus(x), entry by entry                x, y: R x C
//
//   y = ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
//   dx = dy sigmoid(x)
//
// A smooth relu. The second form never raises e to a large number.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SoftplusOp final : Op {
  const char* name() const override { return "softplus"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 2 * kCurve + 2, kCurve + 4); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::softplus, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::softplus, x, y, dy, dx, s.adds[0]);
  }
};

Var softplus(Var x, Where where) {
  require_same_tape("softplus", {{"matrix", x}});
  return x.tape->record<SoftplusOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
