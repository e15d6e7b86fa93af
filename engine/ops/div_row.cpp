// y = x with every row divided by the row r x, y: R x C    r: 1 x C
//
//   y_ij = x_ij / r_j         dx_ij = dy_ij / r_j        dr_j = -Σ_i dy_ij y_ij / r_j
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DivRowOp final : Op {
  const char* name() const override { return "div_row"; }
  const char* hazard() const override { return "a division by zero"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 3); }
  void forward(Step& s) override { s.be.div_row(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat r = s.x[1], y = s.y, dy = s.dy, dx = s.dx[0], dr = s.dx[1];
    if (dx.data) s.be.div_row_backward(dy, r, dx);
    if (dr.data) s.be.div_row_backward_row(dy, y, r, dr);
  }
};

Var div_row(Var x, Var r, Where where) {
  require_row("div_row", x, r, where);
  return x.tape->record<DivRowOp>(x.shape(), {x, r}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
