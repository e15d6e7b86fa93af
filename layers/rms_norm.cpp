#include "layers/rms_norm.h"

namespace glass {
inline namespace GLASS_PRECISION {

RmsNorm::RmsNorm(ParamStore& store, const std::string& suffix, int width, Rng& rng, double e)
    : gain(&store.make("gain" + suffix, {1, width}, Init::ones, rng)), eps(e) {}

Var RmsNorm::operator()(Var x) const { return rms_norm(x, x.tape->use(*gain), eps); }

Var rms_norm_steps(Var x, Var gain, double eps) {
  const Var mean_square = row_mean(mul(x, x)).named("mean square");
  const Var rms = sqrt(add_number(mean_square, eps)).named("rms");
  const Var xhat = div_col(x, rms).named("xhat");
  return mul_row(xhat, gain).named("y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
