// Attention by locality-sensitive hashing: who points in about the same direction finds each other without a search.
//
//   k_j = q_j / |q_j|                      a token's key is its query at length 1: queries and keys are shared
//   bucket(q) = argmax [q R ; -q R]        R: d x buckets/2, random. Near directions tend to share a bucket
//   sort the tokens by (bucket, position), cut the list into chunks
//   a token may use the tokens of its bucket that are in its own chunk or in the one before,
//   and itself only if it may use no other  (the paper takes 1e5 off its score)
//   more rounds, each with an R of its own: a pair that any round finds is allowed
//
//   Y_i = Σ_j A_ij V_j      A = softmax of q_i · k_j / √d over the allowed j
//
// Kitaev, Kaiser, Levskaya 2020, "Reformer: The Efficient Transformer", section 2. The buckets are decided when a line is
// recorded; a replay keeps them, and no gradient goes through them.
#pragma once

#include "layers/attention/multi_head.h"
#include "layers/attention/patterns.h"
#include "layers/attention/qk_norm.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct LshRound {
  std::vector<int> bucket;  // of each token
  std::vector<int> order;   // the tokens, sorted by (bucket, position)
};

// Hashes and sorts the rows of q. Tokens that are `hidden` (empty: none) go to the end, into a bucket of their own.
LshRound lsh_round(Mat q, Mat R, const std::vector<bool>& hidden = {});
// What one round finds: same bucket, same chunk or the one before, and allowed. A token finds itself, too.
KeyLists lsh_found(const LshRound&, int chunk, const Mask* allowed = nullptr);
// What any round found, without the token itself where there is another.
KeyLists lsh_union(const std::vector<KeyLists>& found);

// Refuses (InputError, ShapeError) K that is not Q itself, and tokens that cannot be cut into chunks. Causal in what it
// uses, but not in what it chooses: a later token can move the borders of the chunks. A token that no query may see takes
// no part: it also gets a row of zeros.
struct Lsh final : Variant {
  enum class Form { one_softmax, rounds };  // the same numbers: see below

  int buckets = 4, chunk = 4, rounds = 2;
  std::uint64_t seed = 1;                          // of the R; other heads draw others
  const std::vector<Matrix>* rotations = nullptr;  // not null: the R of each round
  Form form = Form::one_softmax;

  const char* name() const override { return "lsh"; }
  Supports supports() const override { return {.lengths = false, .weights = form == Form::one_softmax}; }
  std::vector<LshRound> hash(Mat q, const Call& = {}) const;

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// The two forms. The first is sparse attention over the union of the rounds, one line. The second is what the paper does:
// round by round and chunk by chunk,
//   o, z = softmax(E - ln N) V and log-sum-exp(E - ln N) of each round,      N_ij: how many rounds found the pair
//   Y = Σ_rounds exp(z - Z) o,     Z = log-sum-exp of the z of all rounds
// in many lines. Without ln N a pair that two rounds found would count twice.
Var lsh_one_softmax(Var q, Var k, Var V, const std::vector<KeyLists>& found);
Var lsh_rounds(Var q, Var k, Var V, const std::vector<LshRound>&, const std::vector<KeyLists>& found, int chunk);

//   Q = X W_qk   V = X W_v   Y = [head 0 | head 1 | ...] W_o        X: (batch n) x C    W: C x C
struct LshAttention {
  Linear qk, v, o;
  int heads;
  Lsh lsh;
  LshAttention(ParamStore&, const std::string& suffix, int C, int heads, Rng&, Bias = Bias::no);
  Var operator()(Var X, Heads cut = {}) const;  // of `cut` the batch, the mask and the wish for weights count
};

}  // namespace GLASS_PRECISION
}  // namespace glass
