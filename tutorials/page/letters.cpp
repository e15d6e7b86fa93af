#include "tutorials/page/letters.h"

#include <algorithm>

#include "layers/optim/adamw.h"
#include "layers/optim/clip.h"
#include "layers/optim/schedule.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace letters {

static constexpr int kWidth = 8, kHeads = 2;

static int pick(Rng& rng, int n) { return int(rng.uniform() * n); }

std::string word(int id) {
  if (id == kUp) return "UP";
  if (id == kLow) return "low";
  if (id == kEnd) return ".";
  const char lower = char('a' + (id - kQuestions) % kLetters), upper = char('A' + (id - kQuestions) % kLetters);
  return id < kLower ? std::string{lower, '?'} : std::string{id < kUpper ? lower : upper};
}

Labels spoken(const Dialogue& text) {
  Labels words;
  for (const Token& t : text) words.push_back(word(t.id));
  return words;
}

int named(int instruction, int question) { return question - kQuestions + (instruction == kUp ? kUpper : kLower); }

std::vector<int> Rule::answer(const Dialogue& so_far) const {
  int instruction = kLow;  // without one it answers in lower case
  for (const Token& t : so_far)
    if (t.role == Role::system && t.turn == so_far.back().turn) instruction = t.id;
  return {named(instruction, so_far.back().id)};
}

Dialogue draw(Rng& rng, double disobeys) {
  const int instruction = pick(rng, 2), turns = 1 + pick(rng, kTurns);
  std::vector<Turn> given;
  for (int k = 0; k < turns; ++k) {
    const int question = kQuestions + pick(rng, kLetters);
    given.push_back({{question}, {named(rng.uniform() < disobeys ? 1 - instruction : instruction, question)}});
  }
  return ghost_text({instruction}, given, kEnd, Rule());
}

Model::Model(Rng& rng)
    : words(params, "words", kWords, kWidth, rng),
      places(params, "places", kTokens, kWidth, rng),
      before(params, "_1", kWidth, rng),
      after(params, "_2", kWidth, rng),
      attention(params, "", kWidth, kHeads, rng),
      out(params, "_out", kWidth, kWords, rng) {
  for (Param* table : {words.table, places.table}) {
    cpu_backend().scale(table->value, Real(0.5), table->value);
    table->changed();
  }
}

Var Model::logits(Tape& tape, const Dialogue& text, std::vector<Var>* weights) const {
  std::vector<int> ids, place;
  for (const Token& t : text) {
    place.push_back(int(ids.size()));
    ids.push_back(t.id);
  }
  const Mask causal = Mask::causal(int(ids.size()), int(ids.size()));
  const Var X = add(words(tape, ids), places(tape, place)).named("X");
  const Var H = add(X, attention(before(X), {.mask = &causal, .weights = weights})).named("H");
  return out(after(H)).named("Z");
}

void train(Model& model, Teach teach, double disobeys, std::uint64_t seed, const Page& page) {
  constexpr int kSteps = 300, kBatch = 8;
  const WarmupCosine schedule{0.02, 20, kSteps};
  AdamW adamw(model.params, 0);
  Rng rng(seed);
  Tape tape;
  for (int t = 1; t <= kSteps; ++t) {
    tape.rewind();
    std::vector<Dialogue> texts;
    std::vector<Var> Z;
    for (int i = 0; i < kBatch; ++i) {
      texts.push_back(draw(rng, disobeys));
      Z.push_back(model.logits(tape, texts.back()));
    }
    model.params.zero_grad();
    tape.backward(dialogue_loss(Z, texts, teach));
    clip_by_norm(model.params, 1);
    adamw.rate = schedule(t);
    adamw.step();
    page.progress("training", t, kSteps);
  }
}

Obedience obedience(const Model& model, std::uint64_t seed) {
  constexpr int kDialogues = 40;
  Obedience o{Matrix(Shape{1, kTurns}), Matrix(Shape{1, kTurns})};
  Rng rng(seed);
  Tape tape;
  for (int i = 0; i < kDialogues; ++i) {
    const int instruction = i % 2;
    std::vector<Turn> turns;
    for (int k = 0; k < kTurns; ++k) {
      const NoGrad scope(tape);
      const int question = kQuestions + pick(rng, kLetters);
      turns.push_back({{question}, {}});
      const Dialogue text = written({instruction}, turns, kEnd, Instruct::first_turn);
      std::vector<Var> A;
      const Mat Z = model.logits(tape, text, &A).value();
      const Real* last = Z.row(Z.rows - 1);
      const int answer = int(std::max_element(last + kLower, last + kEnd) - last);
      o.obeys(0, k) += answer == named(instruction, question);
      for (const Var& a : A) o.looks(0, k) += a.value()(Z.rows - 1, 0) / kHeads;
      turns.back().answer = {answer};
    }
  }
  for (Matrix* sum : {&o.obeys, &o.looks}) cpu_backend().scale(*sum, Real(1) / kDialogues, *sum);
  return o;
}

}  // namespace letters
}  // namespace GLASS_PRECISION
}  // namespace glass
