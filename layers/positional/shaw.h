// Shaw's relative positions: a learned row for each distance, added to keys and to values.
#pragma once

#include <string>

#include "engine/params.h"
#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   E_ij = q_i · (k_j + a_r) / √d      A = softmax(E)      y_i = Σ_j A_ij (v_j + b_r)        r = clip(j - i, -k, k) + k
//
//   aK: (2k+1) x d, rows a_r           aV: (2k+1) x d_v, rows b_r         distances beyond k share a row
//   daK_r += dE_ij q_i / √d            daV_r += A_ij dy_i                 over all pairs with this r
//
// Shaw, Uszkoreit and Vaswani 2018, "Self-Attention with Relative Position Representations". The sum over a_r is taken
// apart, q_i · k_j + q_i · a_r, so that only Q aKᵀ, n x (2k+1), has to be stored and not n m rows of width d:
//
//   S = Q Kᵀ + gathered(Q aKᵀ)         entry (i, j) takes column r of row i
//   Y = A V + W aV                     W_ir = Σ of A_ij over the keys j with this r
//
// Tables for one head (heads = 1) are shared by all. Query i stands at position i + m - n.
// Lines: "R" = Q aKᵀ, "Q Kᵀ", "S", "E", "A", "W", "Y".
struct Shaw final : Variant {
  Param *aK, *aV;
  int k;

  // Parameters "aK" + suffix and "aV" + suffix; for several heads the tables stand side by side.
  Shaw(ParamStore&, const std::string& suffix, int k, int d, int d_v, Rng&, int heads = 1);
  const char* name() const override { return "shaw"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// The definition to the letter, one query after the other, for the tests and for reading.
Var shaw_steps(Var Q, Var K, Var V, Var aK, Var aV, const Mask* allowed = nullptr);

}  // namespace GLASS_PRECISION
}  // namespace glass
