// ALiBi: no positions at all; a key that is further away scores less.
#pragma once

#include <vector>

#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   E = Q Kᵀ / √d - m_h |j - i|        A = softmax(E)        Y = A V
//
//   m_h = 2^(-8h/H), h = 1 ... H       the slope of head h: the first of eight is 1/2, the last 1/256
//
// Press, Smith and Lewis 2022, "Train Short, Test Long". Query i stands at position i + m - n. The bias comes after
// the scaling, it is fixed, and nothing is learned. Under a causal mask j <= i, so -|j - i| is the paper's j - i; there
// m_h j would give the same weights, since softmax does not see m_h i, which the whole row shares.
// Lines: "S", "E", "bias", "E biased", "A", "Y".
struct Alibi final : Variant {
  const char* name() const override { return "alibi"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// One slope for each head. If H is no power of two: the slopes of the largest power of two below, then every second
// one, from the first, of twice as many.
std::vector<double> alibi_slopes(int H);

}  // namespace GLASS_PRECISION
}  // namespace glass
