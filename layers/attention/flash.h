// Attention without the n x m matrix: the softmax is computed while the keys come by, a tile at a time. Exact.
#pragma once

#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The definition, in ops. Tile t of keys brings its scores E_t; each query keeps a running maximum m and two sums:
//
//   m' = max(m, rowmax E_t)   P = exp(E_t - m')   a = exp(m - m')       a <= 1 makes the old sums relative to the new m'
//   l' = a l + rowsum P       acc' = a acc + P V_t                      lines "m", "P", "a", "l", "acc", each with its tile: "m 0"
//   Y  = acc / l              L = m + ln l = ln Σ_j e^(E_ij)            after the last tile
//
// Milakov and Gimelshein 2018, "Online normalizer calculation for softmax"; Rabe and Staats 2021, "Self-attention Does Not Need
// O(n²) Memory". On a tape the steps save nothing: every P stays, for the way back. FlashAttention below is the cure.
struct OnlineSoftmax final : Variant {
  int keys = 32;  // in one tile
  const char* name() const override { return "online softmax"; }
  Supports supports() const override { return {.weights = false}; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// The same as one op, with queries in tiles too; backward computes each tile of weights once more from L. Of the n x m pairs it
// keeps nothing: n numbers L, n numbers D, one tile. Dao et al. 2022, Dao 2023.
//
// Lines "Y L" and its views "Y" and "L". Masks are said as shortly as they can be: causal is a flag, padding one row of bytes, and
// only any other mask is kept as n x m bytes. Tiles that are hidden altogether are skipped. The weights, if they are wanted, are
// computed once more as lines of the tape, A = exp(E - L), and do take n x m; gradients flow through them too.
// multi_head gets all its heads and sequences from one line, without L.
struct FlashAttention final : Variant {
  int queries = 32, keys = 32;  // in one tile; the result does not depend on it
  double tau = 0;               // let the maximum lag behind by so much, to rescale less often (FlashAttention-4: 8 ln 2)
  const char* name() const override { return "flash"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
  Var attend_all(Var Q, Var K, Var V, const Heads&) const override;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
