#include "layers/conv.h"

namespace glass {
inline namespace GLASS_PRECISION {

static int checked_taps(int taps, int left) {
  if (taps < 1 || left < 0 || left >= taps) {
    throw InputError("convolution: " + std::to_string(left) + " taps to the left of " + std::to_string(taps) + "; it must be 0 to taps - 1");
  }
  return taps;
}

Conv::Conv(ParamStore& store, const std::string& suffix, int in, int out, int t, int l, Rng& rng, Bias bias)
    : W(&store.make("W" + suffix, {checked_taps(t, l) * in, out}, Init::xavier, rng)),
      b(bias == Bias::yes ? &store.make("b" + suffix, {1, out}, Init::zeros, rng) : nullptr),
      taps(t),
      left(l) {}

Var Conv::operator()(Var X) const {
  const Var Y = conv1d(X, X.tape->use(*W), left);
  return b ? add_row(Y, X.tape->use(*b)) : Y;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
