// y = the mean of each column               x: R x C    y: 1 x C
//
//   y_j = Σ_i x_ij / R        dx_ij = dy_j / R
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ColMeanOp final : Op {
  Mat share;  // 1 x C, scratch: dy / R
  explicit ColMeanOp(Mat s) : share(s) {}
  const char* name() const override { return "col_mean"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  void forward(Step& s) override {
    s.be.fill(s.y, 0);
    s.be.add_col_sums(Real(1.0 / s.x[0].rows), s.x[0], s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.scale(dy, Real(1.0 / dx.rows), share);
    s.be.add_row(dx, share, dx);
  }
};

Var col_mean(Var x, Where where) {
  require_same_tape("col_mean", {{"matrix", x}});
  const Shape s = x.shape();
  if (s.rows == 0) shape_error("col_mean", "a column of no entries has no mean", {{"matrix", x}}, "", where);
  return x.tape->record<ColMeanOp>(Shape{1, s.cols}, {x}, where, x.tape->scratch({1, s.cols}));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
