// Efficient attention: two softmaxes, over the channels of a query and over the positions of the keys.
#pragma once

#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   R = softmax(Q)           n x d      each query alone: how much of each channel it wants
//   M = softmax(Kᵀ)          d x m      each channel alone: a map of where it looks, the same for every query
//   C = M V                  d x d_v    one mean of the values for each channel
//   Y = R C                  n x d_v
//
// The matrix R M, n x m, is never made; its rows sum to 1 because those of R and M do, so there is no denominator.
// Shen et al. 2018, "Efficient Attention: Attention with Linear Complexities", section 3.2. (Their M is transposed here.)
// A map covers all positions at once: it sees the future, so this cannot be causal. A padded key scores -inf in each map.
struct EfficientAttention final : Variant {
  const char* name() const override { return "efficient"; }
  Supports supports() const override { return {.causal = false, .any_mask = false, .weights = false}; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;  // lines "R", "M", "C", "Y"
};

}  // namespace GLASS_PRECISION
}  // namespace glass
