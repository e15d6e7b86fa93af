// tutorials/33_ghost_attention.cpp: an instruction that is given once and holds to the end. A recipe for data, no new attention.
// Read first: 06_cross_entropy, 20_training.   Next: see the end of the output.   The recipe: layers/text/ghost.h
#include "layers/text/ghost.h"

#include <algorithm>
#include <cmath>

#include "tutorials/page/by_hand.h"
#include "tutorials/page/letters.h"
#include "tutorials/page/page.h"
using namespace glass;
using namespace glass::letters;

static std::string line(const Dialogue& text) {
  std::string words;
  for (const std::string& w : spoken(text)) words += (words.empty() ? "" : words.back() == '.' ? "   " : " ") + w;
  return words;
}

// Trains a fresh model and lets it talk.
static Obedience outcome(Page& page, Teach teach, double disobeys) {
  Rng rng(page.seed());
  Model model(rng);
  train(model, teach, disobeys, page.seed() + 1, page);
  return obedience(model, page.seed() + 2);
}

static double mean(Mat row) { return by_hand::row_sums(row)(0, 0) / row.cols; }

int main(int argc, char** argv) try {
  Page page(argc, argv, "33");
  Tape& tape = page.tape;

  Model model(page.rng);
  page.settle(model.params);

  page.step("Ask", "the instruction in front of every message", "UP means: name the letters in upper case. A rule plays the model that is asked");
  const int a = kQuestions, b = kQuestions + 1;
  const std::vector<Turn> given = {{{b}, {named(kLow, b)}}, {{a}, {named(kUp, a)}}, {{b}, {named(kLow, b)}}};
  const Dialogue asked = ghost_text({kUp}, given, kEnd, Rule(), Earlier::sampled), text = ghost_text({kUp}, given, kEnd, Rule());
  page.say("   given   " + line(written({}, given, kEnd, Instruct::first_turn)));
  std::vector<Turn> so_far;
  for (const Turn& turn : given) {
    so_far.push_back({turn.user, {}});
    const Dialogue prompt = written({kUp}, so_far, kEnd, Instruct::every_turn);
    so_far.back().answer = Rule().answer(prompt);
    page.say((so_far.size() == 1 ? "   asked   " : "           ") + line(prompt) + " → " + word(so_far.back().answer[0]));
  }
  page.check("so asked, every answer obeys", spoken(asked) == Labels{"UP", "b?", "B", ".", "a?", "A", ".", "b?", "B", "."});

  page.step("Keep", "the instruction once, the given answers, the new last one", "the text for the training. Its earlier answers do not do as they were told");
  const Labels words = spoken(text);
  page.say("   text    " + line(text));
  page.check("only the last answer is new", words == Labels{"UP", "b?", "b", ".", "a?", "A", ".", "b?", "B", "."});

  page.step("Which tokens teach?", "w = 1, or 0", "all of them; the answers with their ends (usual fine-tuning); the last answer (Ghost Attention)");
  const int T = int(text.size());
  Matrix w(Shape{T - 1, 3});
  for (int t = 0; t < T - 1; ++t)
    for (int i = 0; i < 3; ++i) w(t, i) = targets_of(text, Teach(i))[std::size_t(t)] != kNoTarget;
  page.show_matrix("w", w, Labels(words.begin() + 1, words.end()), {"all", "answers", "last"});
  page.check("nothing predicts the first word; 9, 6 and 2 others teach", {{by_hand::col_sums(w), Matrix{{9, 6, 2}}}});

  page.step("The loss", "L = −Σ w_t ln p(x_t | before it) / Σ w_t", "row t − 1 of the scores Z predicts token t. The model is fresh: it knows nothing yet");
  const Var Z = model.logits(tape, text);
  Labels vocabulary;
  for (int id = 0; id < kWords; ++id) vocabulary.push_back(word(id));
  page.show({Z}, words, vocabulary);
  const double all = dialogue_loss({Z}, {text}, Teach::all).value()(0, 0), answers = dialogue_loss({Z}, {text}, Teach::answers).value()(0, 0);
  const Var loss = dialogue_loss({Z}, {text}, Teach::last_answer);
  page.say("   all: " + page.measured(all) + "   answers: " + page.measured(answers) + "   last answer: " + page.measured(loss.value()(0, 0)));
  const Matrix P = by_hand::softmax(Z.value());
  page.check("last: −(ln p(B | b?) + ln p(. | B)) / 2", loss.value()(0, 0), -(std::log(P(T - 3, text[std::size_t(T - 2)].id)) + std::log(P(T - 2, kEnd))) / 2);

  page.part("Back", "And back, for the last answer.");
  page.step("Through the loss", "dZ_(t−1) = w_t (softmax(Z_(t−1)) − onehot(x_t)) / Σ w", "divided by the 2 tokens that teach, not by all 9: long dialogues would learn slowly");
  page.backward(loss, Matrix{{1}});
  page.show_gradient({Z});
  Matrix dZ(Z.shape());
  for (int t = 1; t < T; ++t)
    for (int c = 0; c < kWords; ++c) dZ(t - 1, c) = w(t - 1, 2) * (P(t - 1, c) - (c == text[std::size_t(t)].id)) / 2;
  const int B = text[std::size_t(T - 2)].id;
  page.say("   dZ[b?,B] = (p(B | b?) − 1) / 2 = (" + page.measured(P(T - 3, B)) + " − 1) / 2 = " + page.measured(Z.grad()(T - 3, B)));
  page.check("formula for dZ; exactly 0 in the first 7 rows", {{Z.grad(), dZ}});

  page.step("Through the attention", "dX", "the words that do not teach are still looked at: they learn to be of use");
  const Var X = tape.find("X");
  page.label(X, words);
  page.show_gradient({X});
  Matrix norms(Shape{T, 2});
  for (int t = 0; t < T; ++t) norms(t, 0) = by_hand::norm(Z.grad().block(t, 0, 1, kWords)), norms(t, 1) = by_hand::norm(X.grad().block(t, 0, 1, X.shape().cols));
  page.check("UP, the first word: dZ is 0 and dX is not", norms(0, 0) == 0 && norms(0, 1) > 1e-3);

  page.part("More", "Four models, each trained on 2400 dialogues of 1 to 8 turns. Earlier answers\ndisobey in 3 of 4 cases, for the fourth model always. Then each model talks.");
  page.step("Who still obeys?", "share of obeying answers, turn by turn", "40 new dialogues, the model's own answers behind it, the instruction only at the very front");
  const Obedience end[] = {outcome(page, Teach::all, 0.75), outcome(page, Teach::answers, 0.75), outcome(page, Teach::last_answer, 0.75), outcome(page, Teach::last_answer, 1)};
  Matrix obeys(Shape{4, kTurns}), looks(obeys.shape());
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < kTurns; ++k) obeys(i, k) = end[i].obeys(0, k), looks(i, k) = end[i].looks(0, k);
  const Labels rows = {"all", "answers", "last", "always"}, turns = {"1", "2", "3", "4", "5", "6", "7", "8"};
  page.show_matrix("obeys", obeys, rows, turns);
  page.check("last answer: at least 80 % in every turn", *std::min_element(obeys.view().row(2), obeys.view().row(2) + kTurns) >= 0.8);
  page.check("all tokens, or all answers: on average below 70 %", mean(end[0].obeys) < 0.7 && mean(end[1].obeys) < 0.7);
  page.check("always: it has learned 'not as before' instead", mean(end[3].obeys.view().block(0, 1, 1, kTurns - 1)) < 0.9);
  page.step("Who still looks?", "attention from the question to the instruction", "mean over both heads");
  page.show_matrix("looks", looks, rows, turns);
  page.check("after 8 turns most where only the last answer taught", looks(2, 7) > looks(0, 7) && looks(2, 7) > looks(1, 7));
  return page.done();
} catch (const std::exception& e) {
  return fail("33", e);
}
