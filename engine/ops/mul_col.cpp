// y = x with every column times the column c  x, y: R x C  c: R x 1
//
//   y_ij = x_ij c_i           dx_ij = dy_ij c_i          dc_i = Σ_j dy_ij x_ij
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MulColOp final : Op {
  const char* name() const override { return "mul_col"; }
  void forward(Step& s) override { s.be.mul_col(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], c = s.x[1], dy = s.dy, dx = s.dx[0], dc = s.dx[1];
    if (dx.data) s.be.add_mul_col(dy, c, dx);
    if (dc.data) s.be.add_row_dots(dy, x, dc);
  }
};

Var mul_col(Var x, Var c, Where where) {
  require_col("mul_col", x, c, where);
  return x.tape->record<MulColOp>(x.shape(), {x, c}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
