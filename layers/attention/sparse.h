// Sparse attention: each query uses the keys of a pattern, and no work is done for the others.
//
//   Y_i = Σ_j A_ij V_j      A_ij = exp(E_ij) / Σ_l exp(E_il)      j, l: the keys that the pattern gives to query i
//   E_ij = Q_i · K_j / √d
//
// Nothing but masked attention, attention_steps under pattern().mask(): the same numbers, but for the price of the pairs
// (engine/ops/sparse_attention.cpp). A mask that is asked for is joined: a pair needs both. One line, "Y".
#pragma once

#include "layers/attention/patterns.h"
#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

Var sparse_attention(Var Q, Var K, Var V, const KeyLists& allowed);

struct Sparse : Variant {
  const char* name() const override { return "sparse"; }
  virtual KeyLists pattern(int n, int m) const { return all_keys(n, m); }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

struct SparseWindow final : Sparse {  // Longformer's: w/2 keys on either side
  int w = 4;
  const char* name() const override { return "window"; }
  KeyLists pattern(int n, int m) const override { return window(n, m, w); }
};

struct SparseDilated final : Sparse {  // every gap-th key, so that the same number reaches further
  int w = 4, gap = 2;
  const char* name() const override { return "dilated"; }
  KeyLists pattern(int n, int m) const override { return dilated_window(n, m, w, gap); }
};

struct SparseStrided final : Sparse {  // the two patterns joined; causal
  int l = 3;
  const char* name() const override { return "strided"; }
  KeyLists pattern(int n, int m) const override { return strided_near(n, m, l) | strided_far(n, m, l); }
};

struct SparseFixed final : Sparse {  // the two patterns joined; causal
  int l = 3, c = 1;
  const char* name() const override { return "fixed"; }
  KeyLists pattern(int n, int m) const override { return fixed_near(n, m, l) | fixed_far(n, m, l, c); }
};

struct SparseGlobal final : Sparse {  // a window, and the first token for all
  int w = 2;
  const char* name() const override { return "global"; }
  KeyLists pattern(int n, int m) const override { return m ? window(n, m, w) | global_tokens(n, m, {0}) : KeyLists(n, m); }
};

struct SparseRandom final : Sparse {  // a window and r random keys, drawn from the seed: the same in every run
  int w = 2, r = 1;
  std::uint64_t seed = 1;
  const char* name() const override { return "random"; }
  KeyLists pattern(int n, int m) const override { return with_random(window(n, m, w), r, seed); }
};

struct SparseBlocks final : Sparse {  // Big Bird: blocks of b tokens
  int b = 2, r = 1;
  std::uint64_t seed = 1;
  const char* name() const override { return "block"; }
  KeyLists pattern(int n, int m) const override { return m ? in_blocks(bigbird((m + b - 1) / b, r, seed), b, n, m) : KeyLists(n, m); }
};

const std::vector<const Sparse*>& sparse_patterns();  // one of each, with the settings above

// Longformer has two sets of projections. An ordinary query uses Q, K, V for its window and for the global keys, in one
// softmax. A global query uses Q_g, K_g, V_g for all keys. (They start as copies of Q, K, V; then this is SparseGlobal.)
// Lines "Y ordinary", "Y global", each zero where the other is not, and "Y". As many queries as keys.
struct Longformer {
  int w = 2;
  std::vector<int> global = {0};
  Var operator()(Var Q, Var K, Var V, Var Q_g, Var K_g, Var V_g, const Mask* allowed = nullptr) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
