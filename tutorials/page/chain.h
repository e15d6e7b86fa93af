// A task for a model that writes, and a small stack of attention layers for it.
//
//   c→a  .4  a→d  .0  .2  d→b  ...     a d b ...      Notes say what follows what; the model starts at a symbol and
//                                                    writes down the chain, one symbol per step. Most tokens are noise.
#pragma once

#include <vector>

#include "layers/attention/less_is_more.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace chain {

constexpr int kSymbols = 8, kWidth = 2 * kSymbols, kHeads = 4, kLayers = 6;
constexpr int kFirst = 2, kMiddle = 4;  // the layers that choose

// One row per token: a symbol, one-hot | what follows it, one-hot. Noise has no left half, a question no right half.
struct Notes {
  Matrix X;
  std::vector<int> next;  // the symbol after each symbol
};
Notes take_notes(int noise, Rng&);  // kSymbols notes and the noise, in any order
Matrix question(int symbol);        // one row

// Layers of attention, each of which adds to what comes in:  X ← X + attention(X), causal.     logits = X W + b
struct Model {
  ParamStore params;
  std::vector<MultiHeadAttention> layers;
  Linear out;
  explicit Model(Rng&);
  Var logits(Var X) const;
};
Var loss_of(Tape&, const Model&, int noise, Rng&);  // of new notes and a question about each symbol

// Writes with a cache: the keys and values of every token so far, layer by layer.
class Writer {
 public:
  Writer(const Model&, Mat notes, int steps);  // reads the notes; room for so many steps
  // One step. Null: every layer sees everything. `A`: the weights of each layer, heads x tokens, null if not wanted.
  Matrix step(int symbol, LessIsMore* sparse = nullptr, std::vector<Matrix>* A = nullptr);

 private:
  const Model& model_;
  std::vector<Matrix> K_, V_;  // for each layer; rows 0 to t_ - 1 are filled
  int t_;
};

void train(Model&, std::uint64_t seed, const Page&);  // 400 steps; a line of progress while it runs

// New notes, longer than those of the training, and what full attention writes about them: kTexts x kSteps symbols.
constexpr int kTexts = 6, kSteps = 8, kNoise = 24;
class Test {
 public:
  Test(const Model&, std::uint64_t seed);
  double right() const;                        // the share of symbols that follow from the notes
  double agreement(const TokenBudget&) const;  // the share that the sparse model writes, too, given the same beginning
  // How much of the attention of layers 2 to 5 falls on the chosen tokens, mean over heads and steps. Row 0: one
  // choice for all heads, made in layers 2 and 4. Row 1: each head's own best, made there, read by that head later.
  Matrix recall(const TokenBudget&) const;

 private:
  struct Text {
    Notes notes;
    Writer start;              // has read the notes
    std::vector<int> symbols;  // the question of each step, and at the end the last answer
  };
  std::vector<Text> texts_;
};

}  // namespace chain
}  // namespace GLASS_PRECISION
}  // namespace glass
