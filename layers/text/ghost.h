// Ghost Attention: training text for dialogues in which an instruction is given once and holds to the end.
#pragma once

#include <vector>

#include "engine/ops.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Touvron et al. 2023, "Llama 2: Open Foundation and Fine-Tuned Chat Models", section 3.3. Despite the name no formula
// of attention changes: it is a recipe for data, and a choice of the tokens that teach.
//
//   given     u1 a1      u2 a2      u3 a3       a dialogue: messages u, answers a
//   1 asked   i u1 s1    i u2 s2    i u3 s3     the instruction i in front of EVERY message: the samples s obey
//   2 kept    i u1 a1      u2 a2      u3 s3     the instruction once; only the last answer is the sample
//   3 loss    . .  .       .  .       .  s3     only the last answer teaches: the earlier ones do not obey

enum class Role { system, user, assistant, end };  // who wrote a token. An `end` closes an answer

struct Token {
  int id;
  Role role;
  int turn;  // from 0
};
using Dialogue = std::vector<Token>;

struct Turn {
  std::vector<int> user, answer;
};

enum class Instruct { first_turn, every_turn };
// instruction, message, answer, end, message, ... The last answer may be empty: then the text ends where it would
// begin.
Dialogue written(const std::vector<int>& instruction, const std::vector<Turn>&, int end, Instruct);

struct Answerer {  // the model that is asked
  virtual ~Answerer() = default;
  virtual std::vector<int> answer(const Dialogue& so_far) const = 0;
};

// The paper leaves open which earlier answers the text has.
enum class Earlier { given, sampled };
Dialogue ghost_text(const std::vector<int>& instruction, const std::vector<Turn>& given, int end, const Answerer&,
                    Earlier = Earlier::given);

// Which tokens teach: w_t = 1 for
enum class Teach {
  all,          // every token but the first, which nothing predicts
  answers,      // the answers and their ends: the usual fine-tuning
  last_answer,  // the last answer and its end: Ghost Attention
};

//   L = -Σ_t w_t ln p(x_t | x_<t) / Σ_t w_t       dZ_(t-1) = w_t (softmax(Z_(t-1)) - onehot(x_t)) / Σ_t w_t
//
// Row t - 1 of the logits predicts token t, so the first row that teaches is the last token of the prompt. Targets: for
// the rows 0 to T - 2, the next token, or kNoTarget where w is 0.
constexpr int kNoTarget = -100;
std::vector<int> targets_of(const Dialogue&, Teach);

// The mean over all tokens of the batch that teach (not over all tokens, and not a mean of means); 0 if none does.
// Z[i]: T_i x V, the logits of dialogue i; its last row predicts nothing and is left out.
Var dialogue_loss(const std::vector<Var>& Z, const std::vector<Dialogue>&, Teach);

}  // namespace GLASS_PRECISION
}  // namespace glass
