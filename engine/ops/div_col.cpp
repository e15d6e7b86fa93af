// y = x with every column divided by the column c  x, y: R x C    c: R x 1
//
//   y_ij = x_ij / c_i         dx_ij = dy_ij / c_i        dc_i = -Σ_j dy_ij y_ij / c_i
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DivColOp final : Op {
  const char* name() const override { return "div_col"; }
  const char* hazard() const override { return "a division by zero"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 3); }
  void forward(Step& s) override { s.be.div_col(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat c = s.x[1], y = s.y, dy = s.dy, dx = s.dx[0], dc = s.dx[1];
    if (dx.data) s.be.div_col_backward(dy, c, dx);
    if (dc.data) s.be.div_col_backward_col(dy, y, c, dc);
  }
};

Var div_col(Var x, Var c, Where where) {
  require_col("div_col", x, c, where);
  return x.tape->record<DivColOp>(x.shape(), {x, c}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
