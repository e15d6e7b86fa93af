// The keys and values of the tokens so far, so that a new token computes only its own.
#pragma once

#include "layers/attention/multi_head.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Row t of causal attention needs q_t alone, but every key and value up to t. These do not change when tokens are added:
//
//   y_t = softmax(q_t K_0..t ᵀ / √d) V_0..t          t = 0, 1, 2, ...     Shazeer 2019, "Fast Transformer Decoding", section 2.4
//
// One cache belongs to one layer and one sequence (sequences differ in length: a batch has a cache for each). It holds numbers,
// not lines of a tape: the tape may be rewound after every token, and no gradient goes through it. Keys are stored as the scores
// use them, so rotated already where positions rotate them. And the position of the next token is `tokens`, not 0.
struct KvCache {
  Matrix K, V;     // capacity x (kv_heads d), capacity x (kv_heads d_v)
  int tokens = 0;  // rows in use

  KvCache(int capacity, int key_width, int value_width, Backend* home = nullptr);  // home: that of the tapes
  void append(Var K, Var V);                                                       // a row for each new token, copied. Throws InputError when there is no room
  Var keys(Tape&) const;  // all so far: a constant line over the cache's own memory, which must outlive it
  Var values(Tape&) const;
  void clear() { tokens = 0; }  // for a new sequence
  std::size_t bytes() const;    // of the rows in use
};

// multi_head for the newest n tokens. Appends their K and V, then each query sees all earlier tokens, itself, and no later one:
// Mask::causal(n, tokens). Any n, from one token to the whole sequence at once; the rows are those of causal attention.
// Of `cut`, heads, kv_heads and weights count; a mask or a batch is refused. Gradients go to Q only.
Var multi_head_cached(Var Q, Var K, Var V, KvCache&, const Heads& cut, const Variant& variant = plain_attention);

// The layer, for the newest tokens X: n x C.
Var decode(const MultiHeadAttention&, Var X, KvCache&, std::vector<Var>* weights = nullptr);

}  // namespace GLASS_PRECISION
}  // namespace glass
