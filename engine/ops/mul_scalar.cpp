// y = s x, s a 1 x 1 line of the tape       x, y: R x C    s: 1 x 1 (a learned temperature, say)
//
//   y_ij = x_ij s             dx = s dy      ds = Σ_ij dy_ij x_ij
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MulScalarOp final : Op {
  const char* name() const override { return "mul_scalar"; }
  void forward(Step& s) override { s.be.mul_scalar(s.x[0], s.x[1], s.y); }
  void backward(Step& step) override {
    Backend& be = step.be;
    Mat x = step.x[0], s = step.x[1], dy = step.dy, dx = step.dx[0], ds = step.dx[1];
    if (dx.data) be.add_mul_scalar(dy, s, dx);
    if (ds.data) be.add_dot(dy, x, ds);
  }
};

Var mul_scalar(Var x, Var s, Where where) {
  require_scalar("mul_scalar", x, s, where);
  return x.tape->record<MulScalarOp>(x.shape(), {x, s}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
