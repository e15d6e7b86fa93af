// A small task for training that needs attention (look the answer up), and a model for it.
//
//   c→2  a→5  f→0  b→5    a→?        Four pairs, new ones each time, and a question. The answer is 5.
#pragma once

#include <vector>

#include "layers/attention/self_attention.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace recall {

constexpr int kKeys = 6, kValues = 6, kPairs = 4;

struct Question {
  Matrix X;        // pairs + 1 rows: which key (one-hot) | which value (one-hot); the last row, the question, has no value
  int answer = 0;  // a value
};

Question ask(Rng&);  // every pair has another key; each value is as likely as any

// One head of self-attention over the five rows, and a linear layer that reads the answer off the question's row.
struct Model {
  ParamStore params;
  SelfAttention attention;
  Linear out;
  explicit Model(Rng&);
  Var logits(Tape&, const Question&) const;  // 1 x values
};

Var loss_of(Tape&, const Model&, const std::vector<Question>&);  // mean cross-entropy, 1 x 1
double right_of(const Model&, int questions, Rng);               // the share of new questions answered right

}  // namespace recall
}  // namespace GLASS_PRECISION
}  // namespace glass
