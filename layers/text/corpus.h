// A long text for training: what is learned from, what is held out, and how well a text can be guessed by counting.
#pragma once

#include <vector>

#include "engine/real.h"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The first part of the text is for training, the rest is held out: never trained on, only measured. (Not random pieces: they
// would stand between trained ones and be half known.)
struct Corpus {
  std::vector<int> train, held_out;

  // `share` of the tokens, rounded down, are for training. Throws InputError unless both parts have T + 1 tokens: T and the next.
  Corpus(const std::vector<int>& ids, int T, double share = 0.9);
};

// B windows of T tokens, below each other, and for each token the one that comes next.
//
//   the text  t h e _ c a t        inputs   t h e _      targets   h e _ c         B = 1, T = 4
struct Windows {
  std::vector<int> inputs, targets;

  void at(const std::vector<int>& text, const std::vector<int>& starts, int T);  // throws InputError for one that sticks out
  void draw(const std::vector<int>& text, int batch, int T, Rng&);              // anywhere, each place as likely
};

// How surprised is a model that only counts? Mean of -ln p over the tokens of `text` from the second on, in nats per token.
// Add-one counts (Laplace): what never occurred is not impossible.
//
//   unigram   p(j) = (n_j + 1) / (N + V)               n_j: how often j occurs in `train`
//   bigram    p(j | i) = (n_ij + 1) / (n_i + V)        n_ij: how often j comes after i
//
// A guess that knows nothing at all has ln V.
double unigram_loss(const std::vector<int>& train, const std::vector<int>& text, int vocabulary);
double bigram_loss(const std::vector<int>& train, const std::vector<int>& text, int vocabulary);

}  // namespace GLASS_PRECISION
}  // namespace glass
