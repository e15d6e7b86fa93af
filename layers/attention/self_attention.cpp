#include "layers/attention/self_attention.h"

namespace glass {
inline namespace GLASS_PRECISION {

SelfAttention::SelfAttention(ParamStore& store, int C, int d, int d_v, Rng& rng, Bias bias)
    : q(store, "_q", C, d, rng, bias), k(store, "_k", C, d, rng, bias), v(store, "_v", C, d_v, rng, bias) {}

Var SelfAttention::operator()(Var X, const Mask* allowed) const {
  const Var Q = q(X).named("Q"), K = k(X).named("K"), V = v(X).named("V");
  return form == Form::steps ? attention_steps(Q, K, V, allowed) : attention_fused(Q, K, V, allowed);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
