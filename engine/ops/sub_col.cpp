// y = x with the column c taken from every column  x, y: R x C    c: R x 1
//
//   y_ij = x_ij - c_i         dx = dy        dc_i = -Σ_j dy_ij
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SubColOp final : Op {
  const char* name() const override { return "sub_col"; }
  const char* hazard() const override { return "infinity minus infinity is not a number (is a whole row masked?)"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  bool stores(int i) const override { return i == 0; }
  void forward(Step& s) override { s.be.sub_col(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0], dc = s.dx[1];
    if (dx.data) s.give(0, 1, dy);
    if (dc.data) s.be.add_row_sums(-1, dy, dc);
  }
};

Var sub_col(Var x, Var c, Where where) {
  require_col("sub_col", x, c, where);
  return x.tape->record<SubColOp>(x.shape(), {x, c}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
