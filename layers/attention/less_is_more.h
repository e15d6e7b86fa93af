// LessIsMore: while a model writes token after token, a few layers choose which earlier tokens matter, once for all
// heads, and the layers after them attend to those alone.
#pragma once

#include <vector>

#include "layers/attention/multi_head.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   layer         0     1     2            3     ...   middle         ...
//   attends to    all   all   all          rho   rho   all            rho
//   and then                  chooses rho              chooses rho
//
// Yang et al. 2025, "Less Is More: Training-Free Sparse Attention with Global Locality for Efficient Reasoning".
// Inference only: nothing is trained, and there is no backward. All keys and values are kept; a sparse layer reads
// fewer of them.

// How many tokens a sparse layer sees, and which of them nobody has to choose.
struct TokenBudget {
  int tokens;                  // K
  double recent_share = 0.25;  // r: the last K - k tokens always stay, k = K (1 - r), rounded down
  int sinks = 0;               // so many of the recent places go to the first tokens, if there are that many
};

struct TokenChoice {
  std::vector<int> picked;         // the k tokens that the heads chose, best rank first
  std::vector<int> recent, sinks;  // ascending
  std::vector<int> rho() const;    // all of them, ascending: exactly K, or every token if there are no more than K
};

// Every head lists its k best of the other tokens, best first. Then rank by rank: rank 1 of head 0, rank 1 of head 1,
// ..., rank 2 of head 0, ... A token that is in already is passed over; the first k are picked. It is no vote, and
// scores of different heads are never compared. Ties go to the earlier token.
//
// P: heads x t, a row of scores for each query head, with or without the factor 1/√d. A NaN is chosen last.
// Throws InputError for a budget below 1, a share outside 0 to 1 or a negative number of sinks.
TokenChoice choose_tokens(Mat P, const TokenBudget&);

// How much of each head's attention falls on rho:   recall_h = Σ_(j in rho) A_hj      A: heads x t    recall: heads x 1
Matrix attention_recall(Mat A, const std::vector<int>& rho);

// The scores of one query: q K_hᵀ for each head h, one below the other.    q: 1 x (heads d)    P: heads x t, line "P"
Var scores_of_heads(Var q, Var K, const Heads&);

// One step of writing, layer after layer from 0:
//
//   q: 1 x (heads d)    K: t x (kv_heads d)    V: t x (kv_heads d_v)    Y: 1 x (heads d_v)
//
// The query is that of the last token. Keys that carry positions were turned when they entered the cache, by their own
// position, so leaving others out changes nothing in them.
struct LessIsMore {
  TokenBudget budget;
  int first = 2;    // layers before it see everything; it sees everything and chooses
  int middle = 12;  // sees everything and chooses anew

  TokenChoice chosen;  // by the latest layer that chose. Layer 0 begins a step and forgets it

  explicit LessIsMore(TokenBudget b, int first_choice = 2, int second_choice = 12)
      : budget(b), first(first_choice), middle(second_choice) {}
  bool chooses(int layer) const { return layer == first || layer == middle; }
  bool sparse(int layer) const { return layer > first && layer != middle; }
  // Throws ShapeError for more than one query, a batch or a mask, and for a sparse layer whose step has no choice yet.
  Var operator()(int layer, Var q, Var K, Var V, const Heads&);

 private:
  int among_ = 0;  // how many tokens there were to choose from
};

}  // namespace GLASS_PRECISION
}  // namespace glass
