// y = x with every row times the row r      x, y: R x C    r: 1 x C (a gain)
//
//   y_ij = x_ij r_j           dx_ij = dy_ij r_j          dr_j = Σ_i dy_ij x_ij
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MulRowOp final : Op {
  const char* name() const override { return "mul_row"; }
  void forward(Step& s) override { s.be.mul_row(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], r = s.x[1], dy = s.dy, dx = s.dx[0], dr = s.dx[1];
    if (dx.data) s.be.add_mul_row(dy, r, dx);
    if (dr.data) s.be.add_col_dots(dy, x, dr);
  }
};

Var mul_row(Var x, Var r, Where where) {
  require_row("mul_row", x, r, where);
  return x.tape->record<MulRowOp>(x.shape(), {x, r}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
