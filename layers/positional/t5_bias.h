// T5's relative positions: one learned number for each head and each range of distances, added to the scores.
#pragma once

#include <string>

#include "engine/params.h"
#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   E_ij = Q_i · K_j + B_(bucket(j - i), h)        A = softmax(E)        Y = A V        B: buckets x heads
//
//   dB_(b, h) = the sum of dE_ij over all pairs whose distance is in bucket b
//
// No 1/√d: Raffel et al. 2020, "Exploring the Limits of Transfer Learning" (T5), leave it to the start of the weights:
// W_q with deviation 1/√(C d), W_k and W_v 1/√C, W_o 1/√(H d). One table serves all layers of a stack: give the same
// T5Bias to each. Head h reads column h. Query i stands at position i + m - n.
// Lines: "S", "bias", "S biased", "A", "Y".
struct T5Bias final : Variant {
  Param* table;
  bool both_ways;  // false, in a decoder: keys after the query share bucket 0 with the query's own position
  int farthest;

  T5Bias(ParamStore&, const std::string& name, int heads, bool both_ways, Rng&, int buckets = 32, int farthest = 128);
  const char* name() const override { return "t5"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// The bucket of a key that stands `ahead` places after the query (before it, if negative). Of the buckets of one
// direction (all of them, or one half if both ways), the first half holds one distance each, the second half ever wider
// ranges, up to `farthest`: the ranges grow by a constant factor. Everything beyond is in the last.
int t5_bucket(int ahead, bool both_ways, int buckets = 32, int farthest = 128);

}  // namespace GLASS_PRECISION
}  // namespace glass
