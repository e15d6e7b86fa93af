// A toy language for dialogues, and a small model that learns it.
//
//   UP  b? B .  a? A .  b? B .        The instruction (UP or low) says in which case all letters are to be named.
#pragma once

#include <string>
#include <vector>

#include "layers/attention/multi_head.h"
#include "layers/embedding.h"
#include "layers/layer_norm.h"
#include "layers/text/ghost.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace letters {

constexpr int kTurns = 8, kLetters = 2, kEnd = 2 + 3 * kLetters, kWords = kEnd + 1;
constexpr int kTokens = 1 + 3 * kTurns;
// ids: UP 0, low 1, then a? b?, a b, A B, and the end "."
enum : int { kUp, kLow, kQuestions, kLower = kQuestions + kLetters, kUpper = kLower + kLetters };
std::string word(int id);
Labels spoken(const Dialogue&);
int named(int instruction, int question);  // the answer that obeys

// A rule plays the model that is asked: it obeys an instruction in the same message, and has forgotten an older one.
struct Rule final : Answerer {
  std::vector<int> answer(const Dialogue& so_far) const override;
};

// A dialogue by chance, of 1 to kTurns turns, made by the recipe. Each of its earlier answers disobeys with this
// chance.
Dialogue draw(Rng&, double disobeys);

// One layer:  H = X + attention(norm(X)), causal    Z = norm(H) W + b      X: a row for the word + a row for the place
struct Model {
  ParamStore params;
  Embedding words, places;
  LayerNorm before, after;
  MultiHeadAttention attention;
  Linear out;
  explicit Model(Rng&);
  Var logits(Tape&, const Dialogue&, std::vector<Var>* weights = nullptr) const;  // line "X", and those of the layer
};

void train(Model&, Teach, double disobeys, std::uint64_t seed, const Page&);  // 300 steps of 8 dialogues

// New dialogues of kTurns turns with the model's own answers. For each turn: the share that obeys, and how much
// attention the question pays to the instruction, mean over the heads.
struct Obedience {
  Matrix obeys, looks;  // 1 x kTurns
};
Obedience obedience(const Model&, std::uint64_t seed);

}  // namespace letters
}  // namespace GLASS_PRECISION
}  // namespace glass
