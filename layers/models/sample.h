// Writing: one token after the other, each drawn from what the model thinks comes next.
#pragma once

#include <vector>

#include "layers/models/gpt.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Sampling {
  double temperature = 1;  // below 1 bolder, above 1 more even; 0: always the likeliest
  int top_k = 0;           // draw among the k likeliest only; 0: among all
};

//   p = softmax(z / temperature), z_j = -inf outside the k largest         one token is drawn from p
//
// Ties go to the first token, as in top_k_mask. logits: 1 x V, where the host can read it. Throws InputError for a temperature
// that is negative or no number, a negative k, or logits without a finite largest one.
int draw_token(Mat logits, const Sampling&, Rng&);

// A text that grows, and the keys and values of all its tokens: a new one costs one row in each layer, not the whole text again.
//
// The model sees at most T tokens. When there are T the writer lets go of the older half and reads the newer half again, from
// place 0 on: with learned places every key changes when the text moves. So each new token sees between T/2 and T tokens, and on
// average one more row is computed for it. What it sees is exactly what logits() would be given: seen().
class Writer {
 public:
  explicit Writer(Gpt&);

  void read(const std::vector<int>& ids);  // the tokens become part of the text
  int write(const Sampling&, Rng&);        // draws the next token, appends it and returns it. InputError while the text is empty
  Mat logits() const { return logits_; }   // for the next token, 1 x V
  std::vector<int> seen() const;           // the last tokens: what the model looks at now
  std::vector<int> text;                   // everything

 private:
  void feed(const std::vector<int>& ids);
  Gpt& gpt_;
  Tape tape_;
  std::vector<KvCache> caches_;
  Matrix logits_;
};

// n tokens that follow on `prompt`, without it. Dropout is off meanwhile.
std::vector<int> sample(Gpt&, const std::vector<int>& prompt, int n, const Sampling&, Rng&);

}  // namespace GLASS_PRECISION
}  // namespace glass
