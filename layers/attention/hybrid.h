// A hybrid: softmax attention to what is near, linear attention to all the rest, in one layer with one normaliser.
#pragma once

#include "layers/attention/linear_attention.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   E = Q Kᵀ / √d      a = φ(Q)   b = φ(K)   φ = elu + 1             query i stands at position p = i + m - n
//   near(i, j):  |p - j| < w                                         the query's own key and w - 1 on each side
//   W_ij = exp(E_ij) where near, else a_i·b_j                        hidden pairs 0
//   A_ij = W_ij / Σ_l W_il            Y = A V
//
// With a causal mask: the last w keys by softmax, what lies before them by linear attention. w >= n is softmax attention, w = 0 is linear
// attention (ε = 0). The two kernels share the sum below the fraction, so the data decide how much each part counts.
// After Zhang et al. 2024, "LoLCATs: On Low-Rank Linearizing of Large Language Models", section 3.3. Theirs also learns φ and a weight
// between the parts; this one has neither, so it is a definition of its own.
//
// For stability each row is multiplied by exp(-c_i), c_i = max(0, the largest near E_ij): it cancels.
struct HybridAttention final : Variant {
  int window = 2;

  explicit HybridAttention(int w = 2) : window(w) {}
  const char* name() const override { return "hybrid"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;  // lines "S", "E", "a", "b", "W", "A", "Y"; n x m, the definition
};

// The causal case without an n x m matrix: near keys one query at a time, the others by causal_sums, which lags by the window.
Var hybrid_recurrent(Var Q, Var K, Var V, int window);  // line "Y"

}  // namespace GLASS_PRECISION
}  // namespace glass
