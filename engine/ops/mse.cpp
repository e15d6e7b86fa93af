// y = mean squared difference               a, b: R x C    y: 1 x 1
//
//   y = Σ_ij (a_ij - b_ij)² / RC              da = 2 dy (a - b) / RC      db = -da
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MseOp final : Op {
  Mat d;       // a - b
  Mat factor;  // 1 x 1, scratch: 2 dy / RC
  MseOp(Mat difference, Mat f) : d(difference), factor(f) {}
  const char* name() const override { return "mse"; }
  const char* hazard() const override { return "the square is too large for the number type"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    Cost c = per_entry(s, pass, 3, 2, false);
    c.bytes += bytes_in(d);
    return c;
  }
  void forward(Step& s) override {
    s.be.sub(s.x[0], s.x[1], d);
    s.be.fill(s.y, 0);
    s.be.add_dot(d, d, s.y);
    s.be.scale(s.y, Real(1.0 / double(count(d.shape()))), s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, da = s.dx[0], db = s.dx[1];
    s.be.scale(dy, Real(2.0 / double(count(d.shape()))), factor);
    if (da.data) s.be.add_mul_scalar(d, factor, da);
    s.be.scale(factor, -1, factor);
    if (db.data) s.be.add_mul_scalar(d, factor, db);
  }
};

Var mse(Var a, Var b, Where where) {
  require_same_shape("mse", a, b, where);
  if (count(a.shape()) == 0) shape_error("mse", "of no entries there is no mean", {{"left", a}, {"right", b}}, "", where);
  return a.tape->record<MseOp>(Shape{1, 1}, {a, b}, where, a.tape->scratch(a.shape()), a.tape->scratch({1, 1}));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
