#include "layers/attention/cross_attention.h"

namespace glass {
inline namespace GLASS_PRECISION {

CrossAttention::CrossAttention(ParamStore& store, const std::string& suffix, int C, int C_z, int d, int d_v, Rng& rng,
                               Bias bias)
    : q(store, "_q" + suffix, C, d, rng, bias),
      k(store, "_k" + suffix, C_z, d, rng, bias),
      v(store, "_v" + suffix, C_z, d_v, rng, bias) {}

CrossAttention::Memory CrossAttention::remember(Var Z) const { return {k(Z).named("K"), v(Z).named("V")}; }

Var CrossAttention::operator()(Var X, const Memory& memory, const Call& call) const {
  return (*variant)(q(X).named("Q"), memory.K, memory.V, call);
}

Var CrossAttention::operator()(Var X, Var Z, const Call& call) const { return (*this)(X, remember(Z), call); }

}  // namespace GLASS_PRECISION
}  // namespace glass
