// Several heads side by side, in plain, grouped-query and multi-query form, over a batch of sequences.
#pragma once

#include <string>
#include <vector>

#include "layers/attention/plain.h"
#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

// How a matrix is cut. Sequence b is a block of rows, head h a block of neighbouring columns; both are free views.
//
//   Q: (batch n) x (heads d)      K: (batch m) x (kv_heads d)      V: (batch m) x (kv_heads d_v)
//
// Query head h reads key head h / (heads / kv_heads), a whole division: neighbours share.
//   kv_heads = heads: multi-head (Vaswani et al. 2017, section 3.2.2)      kv_heads = 1: multi-query (Shazeer 2019)
//   in between: grouped-query (Ainslie et al. 2023)
struct Heads {
  int batch = 1;
  int heads = 1;
  int kv_heads = 0;            // 0: as many as heads
  const Mask* mask = nullptr;  // null: every query sees every key. One mask for all, or `batch` of them:
  bool mask_each = false;      // true: mask[b] belongs to sequence b
  std::vector<Var>* weights = nullptr;  // not null: the A of each sequence and head is appended, head after head

  int groups() const { return kv_heads ? kv_heads : heads; }
  const Mask* mask_of(int b) const { return mask ? mask + (mask_each ? b : 0) : nullptr; }
};

// Each head of each sequence by `variant`, the results side by side: (batch n) x (heads d_v). A variant that has a way for all of
// them at once (flash) is asked for that, unless weights are wanted: one line "heads" then, and none for single heads.
// Throws ShapeError if a width or a number of rows cannot be cut, or heads by kv_heads, before anything is recorded.
Var multi_head(Var Q, Var K, Var V, const Heads&, const Variant& variant = plain_attention);

// Its check alone, for attention that needs all heads at once.
void require_heads(Shape Q, Shape K, Shape V, const Heads&);

//   Q = X W_q   K = Z W_k   V = Z W_v       X: (batch n) x C      Z: (batch m) x C_z    self-attention: Z = X
//   Y = [head 0 | head 1 | ...] W_o         W_q: C x C    W_k, W_v: C_z x (kv_heads C/heads)    W_o: C x C
//
// The parameters are 4 C² whatever the number of heads is (C_z = C, kv_heads = heads).
struct MultiHeadAttention {
  Linear q, k, v, o;
  int heads, kv_heads;
  const Variant* variant = &plain_attention;

  // Parameters W_q, W_k, W_v, W_o + suffix, and with biases b_q, ... C must be a multiple of heads, heads of kv_heads.
  MultiHeadAttention(ParamStore&, const std::string& suffix, int C, int heads, Rng&, Bias = Bias::no, int kv_heads = 0, int C_z = 0);
  // Of `cut` the batch, the mask and the wish for weights count. Lines "Q", "K", "V", those of the heads, "heads", "Y".
  Var operator()(Var X, Heads cut = {}) const { return (*this)(X, X, cut); }
  Var operator()(Var X, Var Z, Heads cut = {}) const;  // cross-attention: X asks, Z answers
};

}  // namespace GLASS_PRECISION
}  // namespace glass
