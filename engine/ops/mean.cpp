// y = the mean of all entries               x: R x C    y: 1 x 1
//
//   y = Σ_ij x_ij / RC        dx_ij = dy / RC
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MeanOp final : Op {
  Mat share;  // 1 x 1, scratch: dy / RC
  explicit MeanOp(Mat s) : share(s) {}
  const char* name() const override { return "mean"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  void forward(Step& s) override { s.be.sum(s.x[0], Real(1.0 / double(count(s.x[0].shape()))), s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.scale(dy, Real(1.0 / double(count(dx.shape()))), share);
    s.be.add_scalar(dx, share, dx);
  }
};

Var mean(Var x, Where where) {
  require_same_tape("mean", {{"matrix", x}});
  if (count(x.shape()) == 0) shape_error("mean", "of no entries there is no mean", {{"matrix", x}}, "", where);
  return x.tape->record<MeanOp>(Shape{1, 1}, {x}, where, x.tape->scratch({1, 1}));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
