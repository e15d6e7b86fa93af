#include "layers/dropout.h"

namespace glass {
inline namespace GLASS_PRECISION {

static std::uint64_t draw_seed(Rng& rng) {
  const std::uint64_t high = rng.bits(), low = rng.bits();
  return high << 32 | low;
}

Dropout::Dropout(double chance, Rng& seeds) : p(chance), rng(draw_seed(seeds)) {
  if (!(p >= 0 && p <= 1)) throw InputError("dropout: the probability must be from 0 to 1, not " + to_text(p));
}

Var Dropout::operator()(Var x) {
  if (!training || p == 0) return x;
  return dropout(x, p, draw_seed(rng));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
