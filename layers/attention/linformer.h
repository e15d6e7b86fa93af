// Linformer: keys and values are mixed down to a fixed number of slots before anybody attends.
#pragma once

#include <string>
#include <vector>

#include "engine/params.h"
#include "engine/rng.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   K̄ = E K     V̄ = F V                E, F: k x m, learned     K̄: k x d    V̄: k x d_v
//   Y = softmax(Q K̄ᵀ / √d) V̄           weights n x k
//
//   dK = Eᵀ dK̄    dE = dK̄ Kᵀ    dV = Fᵀ dV̄    dF = dV̄ Vᵀ
//
// Wang et al. 2020, "Linformer: Self-Attention with Linear Complexity", section 4. A slot mixes all positions: this cannot be causal. E has
// one column for each position: m is fixed. A padded key is 0 before it is mixed; the slots stay, so with padding E = F = I is not plain
// attention, which leaves the key out.
enum class Sharing {
  none,      // E_0, F_0, E_1, F_1, ...: each head has its own
  heads,     // E, F: one pair for all heads
  key_value  // E: one matrix for all heads, for keys and values alike
};             // for all layers: give the same Linformer to each layer

struct Linformer final : Variant {
  std::vector<Param*> E, F;  // one each, or one for each head
  int slots, positions;

  // Normal numbers with deviation 1/√k. `heads` counts for Sharing::none only.
  Linformer(ParamStore&, const std::string& suffix, int slots, int positions, Rng&, Sharing = Sharing::heads, int heads = 1);
  const char* name() const override { return "linformer"; }
  Supports supports() const override { return {.causal = false, .any_mask = false, .weights = false}; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;  // lines "E", "F", "K_bar", "V_bar", then those of attention
};

}  // namespace GLASS_PRECISION
}  // namespace glass
