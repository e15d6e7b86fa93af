// y = x with the row r taken from every row x, y: R x C    r: 1 x C
//
//   y_ij = x_ij - r_j         dx = dy        dr_j = -Σ_i dy_ij
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SubRowOp final : Op {
  const char* name() const override { return "sub_row"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  bool stores(int i) const override { return i == 0; }
  void forward(Step& s) override { s.be.sub_row(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0], dr = s.dx[1];
    if (dx.data) s.give(0, 1, dy);
    if (dr.data) s.be.add_col_sums(-1, dy, dr);
  }
};

Var sub_row(Var x, Var r, Where where) {
  require_row("sub_row", x, r, where);
  return x.tape->record<SubRowOp>(x.shape(), {x, r}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
