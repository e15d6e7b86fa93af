// y = the mean of each row                  x: R x C    y: R x 1
//
//   y_i = Σ_j x_ij / C        dx_ij = dy_i / C
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct RowMeanOp final : Op {
  Mat share;  // R x 1, scratch: dy / C
  explicit RowMeanOp(Mat s) : share(s) {}
  const char* name() const override { return "row_mean"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  void forward(Step& s) override {
    s.be.fill(s.y, 0);
    s.be.add_row_sums(Real(1.0 / s.x[0].cols), s.x[0], s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.scale(dy, Real(1.0 / dx.cols), share);
    s.be.add_col(dx, share, dx);
  }
};

Var row_mean(Var x, Where where) {
  require_same_tape("row_mean", {{"matrix", x}});
  const Shape s = x.shape();
  if (s.cols == 0) shape_error("row_mean", "a row of no entries has no mean", {{"matrix", x}}, "", where);
  return x.tape->record<RowMeanOp>(Shape{s.rows, 1}, {x}, where, x.tape->scratch({s.rows, 1}));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
