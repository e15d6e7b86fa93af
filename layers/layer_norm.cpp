#include "layers/layer_norm.h"

namespace glass {
inline namespace GLASS_PRECISION {

LayerNorm::LayerNorm(ParamStore& store, const std::string& suffix, int width, Rng& rng, double e, Bias b)
    : gain(&store.make("gain" + suffix, {1, width}, Init::ones, rng)),
      bias(b == Bias::yes ? &store.make("bias" + suffix, {1, width}, Init::zeros, rng) : nullptr),
      eps(e) {}

static Var zeros(Tape& tape, int width) {  // a constant in the tape's own memory
  const Mat row = tape.scratch({1, width});
  tape.be.fill(row, 0);
  return tape.expose(row, "no bias");
}

Var LayerNorm::operator()(Var x) const {
  return layer_norm(x, x.tape->use(*gain), bias ? x.tape->use(*bias) : zeros(*x.tape, x.shape().cols), eps);
}

Var layer_norm_steps(Var x, Var gain, Var bias, double eps) {
  const Var mean = row_mean(x).named("mean");
  const Var centred = sub_col(x, mean).named("centred");
  const Var variance = row_mean(mul(centred, centred)).named("variance");
  const Var sigma = sqrt(add_number(variance, eps)).named("sigma");
  const Var xhat = div_col(centred, sigma).named("xhat");
  return add_row(mul_row(xhat, gain), bias).named("y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
