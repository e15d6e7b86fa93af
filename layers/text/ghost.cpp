#include "layers/text/ghost.h"

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static void append(Dialogue& text, const std::vector<int>& ids, Role role, int turn) {
  for (const int id : ids) text.push_back({id, role, turn});
}

Dialogue written(const std::vector<int>& instruction, const std::vector<Turn>& turns, int end, Instruct instruct) {
  Dialogue text;
  for (int k = 0; k < int(turns.size()); ++k) {
    const Turn& turn = turns[std::size_t(k)];
    if (k == 0 || instruct == Instruct::every_turn) append(text, instruction, Role::system, k);
    append(text, turn.user, Role::user, k);
    append(text, turn.answer, Role::assistant, k);
    const bool open = k + 1 == int(turns.size()) && turn.answer.empty();
    if (!open) append(text, {end}, Role::end, k);
  }
  return text;
}

Dialogue ghost_text(const std::vector<int>& instruction, const std::vector<Turn>& given, int end, const Answerer& model,
                    Earlier earlier) {
  std::vector<Turn> sampled;
  for (const Turn& turn : given) {
    sampled.push_back({turn.user, {}});
    sampled.back().answer = model.answer(written(instruction, sampled, end, Instruct::every_turn));
  }
  for (std::size_t k = 0; k + 1 < given.size() && earlier == Earlier::given; ++k) sampled[k].answer = given[k].answer;
  return written(instruction, sampled, end, Instruct::first_turn);
}

static bool teaches(const Token& token, int last_turn, Teach teach) {
  if (teach == Teach::all) return true;
  const bool answer = token.role == Role::assistant || token.role == Role::end;
  return answer && (teach == Teach::answers || token.turn == last_turn);
}

std::vector<int> targets_of(const Dialogue& text, Teach teach) {
  std::vector<int> targets;
  for (std::size_t t = 1; t < text.size(); ++t)
    targets.push_back(teaches(text[t], text.back().turn, teach) ? text[t].id : kNoTarget);
  return targets;
}

Var dialogue_loss(const std::vector<Var>& Z, const std::vector<Dialogue>& texts, Teach teach) {
  if (Z.size() != texts.size() || Z.empty()) {
    throw ShapeError("dialogue_loss: " + std::to_string(Z.size()) + " matrices of logits for " +
                     std::to_string(texts.size()) + " dialogues");
  }
  std::vector<Var> rows;
  std::vector<int> targets;
  for (std::size_t i = 0; i < Z.size(); ++i) {
    if (Z[i].shape().rows != int(texts[i].size()) || texts[i].size() < 2) {
      throw ShapeError("dialogue_loss: dialogue " + std::to_string(i) + " has " + std::to_string(texts[i].size()) +
                       " tokens (at least 2 are needed) and " + std::to_string(Z[i].shape().rows) + " rows of logits");
    }
    rows.push_back(Z[i].tape->rows(Z[i], 0, Z[i].shape().rows - 1));
    const std::vector<int> mine = targets_of(texts[i], teach);
    targets.insert(targets.end(), mine.begin(), mine.end());
  }
  const Var all = rows.size() == 1 ? rows[0] : concat_rows(rows.data(), int(rows.size()));
  return cross_entropy(all, targets.data(), int(targets.size()), {kNoTarget}).named("loss");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
