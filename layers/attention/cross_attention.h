// One head of cross-attention: one sequence asks, another one answers.
#pragma once

#include <string>

#include "layers/attention/plain.h"
#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Q = X W_q                X: n x C      W_q: C x d
//   K = Z W_k   V = Z W_v    Z: m x C_z    W_k: C_z x d    W_v: C_z x d_v
//   Y = softmax(Q Kᵀ / √d) V               Y: n x d_v      A: n x m, rarely square
//
//   dX = dQ W_qᵀ             dZ = dK W_kᵀ + dV W_vᵀ, from every layer that reads Z: they add up
//
// Vaswani et al. 2017, "Attention Is All You Need", section 3.2.3: in the decoder. Z is known as a whole, so there is
// no causal mask; padding of Z is hidden. With several heads: MultiHeadAttention(X, Z), which has an output projection
// as well.
struct CrossAttention {
  Linear q, k, v;
  const Variant* variant = &plain_attention;

  // Parameters W_q, W_k, W_v + suffix, and with biases b_q, b_k, b_v + suffix.
  CrossAttention(ParamStore&, const std::string& suffix, int C, int C_z, int d, int d_v, Rng&, Bias = Bias::no);
  Var operator()(Var X, Var Z, const Call& = {}) const;  // lines "Q", "K", "V" and those of the variant

  // The same in two halves. The keys and values do not depend on X: a decoder computes them once for all its steps.
  struct Memory {
    Var K, V;
  };
  Memory remember(Var Z) const;
  Var operator()(Var X, const Memory&, const Call& = {}) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
