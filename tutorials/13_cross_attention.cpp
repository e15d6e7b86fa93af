// tutorials/13_cross_attention.cpp: one sequence asks, another one answers. Two layers read the same answers.
// Read first: 11_masks.   The layer: layers/attention/cross_attention.h
#include "layers/attention/cross_attention.h"

#include <algorithm>
#include <cmath>

#include "layers/optim/adamw.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// ---- a task to learn: write four letters backwards
static constexpr int kLetters = 6, kLength = 4;

struct Reverser {
  ParamStore params;
  CrossAttention attention;  // X: which letter is to be written, one-hot.  Z: letter | position, both one-hot
  Linear out;
  explicit Reverser(Rng& rng) : attention(params, "", kLength, kLetters + kLength, 8, 8, rng), out(params, "_out", 8, kLetters, rng) {}

  Var logits(Tape& tape, const int* letters, std::vector<Var>* weights = nullptr) const {
    Matrix x(Shape{kLength, kLength}), z(Shape{kLength, kLetters + kLength});
    for (int i = 0; i < kLength; ++i) x(i, i) = z(i, letters[i]) = z(i, kLetters + i) = 1;
    return out(attention(tape.constant(x, "X"), tape.constant(z, "Z"), {.weights = weights}));
  }
};

static void draw(Rng& rng, int* letters) { std::generate(letters, letters + kLength, [&] { return int(rng.uniform() * kLetters); }); }

static void train(Page& page, const Reverser& model, Rng& rng) {
  AdamW adamw(const_cast<ParamStore&>(model.params), 0.02);
}

// The share of letters written right.
static double right_of(const Reverser& model, Rng rng) {
  return 0;
}
