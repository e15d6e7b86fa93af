// y = root-mean-square norm of each row     x, y: R x C    gain: 1 x C
//
//   x̂ = x r                   r = 1 / √(mean of x² + eps)
//   y = x̂ ∘ gain
//
//   u = dy ∘ gain             dx = r (u - x̂ mean(u ∘ x̂))      dgain = Σ_i dy ∘ x̂
//
// Zhang and Sennrich 2019, "Root Mean Square Layer Normalization": layer norm without the mean and without a bias.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct RmsNormOp final : Op, Detailed {
  double eps;
  Mat r;  // R x 1
  RmsNormOp(double e, Mat rrms) : eps(e), r(rrms) {}
  const char* name() const override { return "rms_norm"; }
  void details(Details& d) const override { d.add("eps", eps); }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    if (pass == Pass::forward) return per_entry(s, pass, 4, 0);
    const bool dx = s.dx[0].data, dgain = s.dx[1].data;
    return {numbers_in(s.x[0]) * (1 + 7 * dx + 2 * dgain), usual_bytes(s, pass)};  // 1: x̂ again
  }
  void forward(Step& s) override { s.be.rms_norm(s.x[0], s.x[1], eps, r, s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], gain = s.x[1], dy = s.dy, dx = s.dx[0], dgain = s.dx[1];
    s.be.rms_norm_backward(x, gain, r, dy, dx, dgain);
  }
};

Var rms_norm(Var x, Var gain, double eps, Where where) {
  require_row("rms_norm", x, gain, where);
  const Shape s = x.shape();
  if (s.cols == 0) shape_error("rms_norm", "a row of no entries has no mean", {{"matrix", x}}, "", where);
  if (!(eps >= 0)) throw InputError("rms_norm: eps must be 0 or more, not " + to_text(eps));
  return x.tape->record<RmsNormOp>(s, {x, gain}, where, eps, x.tape->scratch({s.rows, 1}));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
