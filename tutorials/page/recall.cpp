#include "tutorials/page/recall.h"

#include <algorithm>
#include <utility>

namespace glass {
inline namespace GLASS_PRECISION {
namespace recall {

static int draw(Rng& rng, int n) { return int(rng.uniform() * n); }

Question ask(Rng& rng) {
  Question q{Matrix(Shape{kPairs + 1, kKeys + kValues})};
  int keys[kKeys] = {0, 1, 2, 3, 4, 5};
  const int asked = draw(rng, kPairs);
  for (int i = 0; i < kPairs; ++i) {
    std::swap(keys[i], keys[i + draw(rng, kKeys - i)]);  // a key is used once
    const int value = draw(rng, kValues);
    q.X(i, keys[i]) = q.X(i, kKeys + value) = 1;
    if (i == asked) q.answer = value;
  }
  q.X(kPairs, keys[asked]) = 1;
  return q;
}

Model::Model(Rng& rng) : attention(params, kKeys + kValues, 8, 8, rng), out(params, "_out", 8, kValues, rng) {}

Var Model::logits(Tape& tape, const Question& q) const {
  return out(tape.rows(attention(tape.constant(q.X, "X")), kPairs, 1));
}

Var loss_of(Tape& tape, const Model& model, const std::vector<Question>& batch) {
  std::vector<Var> rows;
  std::vector<int> answers;
  for (const Question& q : batch) {
    rows.push_back(model.logits(tape, q));
    answers.push_back(q.answer);
  }
  return cross_entropy(concat_rows(rows.data(), int(rows.size())), answers.data(), int(answers.size()));
}

double right_of(const Model& model, int questions, Rng rng) {
  int right = 0;
  Tape tape;
  for (int i = 0; i < questions; ++i) {
    NoGrad scope(tape);
    const Question q = ask(rng);
    const Mat guess = model.logits(tape, q).value();
    right += std::max_element(guess.row(0), guess.row(0) + kValues) - guess.row(0) == q.answer;
  }
  return double(right) / questions;
}

}  // namespace recall
}  // namespace GLASS_PRECISION
}  // namespace glass
