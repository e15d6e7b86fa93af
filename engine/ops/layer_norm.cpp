// y = layer norm of each row                x, y: R x C    gain, bias: 1 x C
//
//   x̂ = (x - μ) r             μ = mean of the row     r = 1 / √(variance + eps), variance = mean of (x - μ)²
//   y = x̂ ∘ gain + bias
//
//   u = dy ∘ gain             dx = r (u - mean(u) - x̂ mean(u ∘ x̂))      dgain = Σ_i dy ∘ x̂      dbias = Σ_i dy
//
// Ba et al. 2016, "Layer Normalization". The variance divides by C, and eps stands inside the root.
// The readable twin in small steps: layer_norm_steps in layers/layer_norm.h.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct LayerNormOp final : Op, Detailed {
  double eps;
  Mat r;  // R x 1
  LayerNormOp(double e, Mat rstd) : eps(e), r(rstd) {}
  const char* name() const override { return "layer_norm"; }
  void details(Details& d) const override { d.add("eps", eps); }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    if (pass == Pass::forward) return per_entry(s, pass, 8, 0);
    const bool dx = s.dx[0].data, dgain = s.dx[1].data, dbias = s.dx[2].data;
    return {numbers_in(s.x[0]) * (2 + 9 * dx + 2 * dgain + dbias), usual_bytes(s, pass)};  // 2: x̂ again
  }
  void forward(Step& s) override { s.be.layer_norm(s.x[0], s.x[1], s.x[2], eps, r, s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], gain = s.x[1], dy = s.dy, dx = s.dx[0], dgain = s.dx[1], dbias = s.dx[2];
    s.be.layer_norm_backward(x, gain, r, dy, dx, dgain, dbias);
  }
};

Var layer_norm(Var x, Var gain, Var bias, double eps, Where where) {
  require_row("layer_norm", x, gain, where);
  require_row("layer_norm", x, bias, where);
  const Shape s = x.shape();
  if (s.cols == 0) shape_error("layer_norm", "a row of no entries has no mean", {{"matrix", x}}, "", where);
  if (!(eps >= 0)) throw InputError("layer_norm: eps must be 0 or more, not " + to_text(eps));
  return x.tape->record<LayerNormOp>(s, {x, gain, bias}, where, eps, x.tape->scratch({s.rows, 1}));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
