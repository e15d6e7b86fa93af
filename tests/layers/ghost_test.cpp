// Ghost Attention: the recipe step by step, the three choices of teaching tokens, and where gradients go.
#include "layers/text/ghost.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "layers/attention/attention.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using List = std::vector<int>;

// Ten tokens: two of the instruction, then message and answer three times; the last answer has two tokens and an end.
static Dialogue ten_tokens() {
  const Role s = Role::system, u = Role::user, a = Role::assistant;
  return {{5, s, 0}, {1, s, 0}, {2, u, 0}, {6, a, 0}, {2, u, 1},
          {3, a, 1}, {4, u, 2}, {6, a, 2}, {0, a, 2}, {7, Role::end, 2}};
}

static List ids_of(const Dialogue& text) {
  List ids;
  for (const Token& t : text) ids.push_back(t.id);
  return ids;
}

namespace {
// Says the number of instruction tokens that it saw, then the number of all tokens.
struct Counter final : Answerer {
  List answer(const Dialogue& so_far) const override {
    int seen = 0;
    for (const Token& t : so_far) seen += t.role == Role::system;
    return {100 + seen, 200 + int(so_far.size())};
  }
};
struct Want {
  Teach teach;
  List targets;
  double loss, fingerprint;
};
}  // namespace

static const int kNo = kNoTarget;
static const Want kWants[] = {
    {Teach::last_answer, {kNo, kNo, kNo, kNo, kNo, kNo, 6, 0, 7}, 2.42470592024, -0.709630043567},
    {Teach::answers, {kNo, kNo, 6, kNo, 3, kNo, 6, 0, 7}, 2.341266419, -0.297071575061},
    {Teach::all, {1, 2, 6, 2, 3, 4, 6, 0, 7}, 2.43514536907, -0.517979364317}};

TEST_CASE("Ghost Attention: targets, losses and gradients of the three choices to ten digits") {
  for (const Want& want : kWants) {
    CAPTURE(int(want.teach));
    CHECK(targets_of(ten_tokens(), want.teach) == want.targets);
    Tape tape;
    const Var Z = tape.input(sines({10, 8}, 1, 3, 1), "Z"), loss = dialogue_loss({Z}, {ten_tokens()}, want.teach);
    tape.backward(loss);
    CHECK(double(loss.value()(0, 0)) == Approx(want.loss).epsilon(kPrinted.relative));
    CHECK(fingerprint(Z.grad().block(0, 0, 9, 8)) ==
          Approx(want.fingerprint).epsilon(kPrinted.relative).margin(kPrinted.absolute));
    CHECK(all_zero(Z.grad().block(9, 0, 1, 8)));  // the last row predicts nothing
    for (int row = 0; row < 9; ++row)
      CHECK(all_zero(Z.grad().block(row, 0, 1, 8)) == (want.targets[std::size_t(row)] == kNo));
    CHECK(gradient_gap(tape, loss, Matrix{{1}}, Z).ok());
  }
}

TEST_CASE("Ghost Attention: rows that teach nothing have no gradient, but what they attend by has") {
  Tape tape;
  const Var X = tape.input(cosines({10, 4}, 1, 2, 3, 0.5), "X"), W = tape.input(sines({4, 8}, 1, 1, 2), "W");
  const Mask causal = Mask::causal(10, 10);
  const Var H = attention_steps(X, X, X, &causal),
            loss = dialogue_loss({matmul(H, W)}, {ten_tokens()}, Teach::last_answer);
  tape.backward(loss);
  for (int row = 0; row < 10; ++row) {
    CHECK(all_zero(H.grad().block(row, 0, 1, 4)) == (row < 6 || row == 9));
    CHECK(all_zero(X.grad().block(row, 0, 1, 4)) == (row == 9));  // the end of the dialogue: nobody looks at it
  }
  CHECK(gradient_gap(tape, loss, Matrix{{1}}, X).ok());

  const Dialogue text = ten_tokens();
  Mask same_turn = causal;
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j)
      same_turn.set(i, j, causal(i, j) && text[std::size_t(i)].turn == text[std::size_t(j)].turn);
  Tape closed;  // with the ATTENTION to earlier turns masked, nothing reaches the instruction
  const Var x = closed.input(X.value(), "X");
  closed.backward(dialogue_loss({matmul(attention_steps(x, x, x, &same_turn), closed.constant(W.value(), "W"))},
                                {ten_tokens()}, Teach::last_answer));
  CHECK(all_zero(x.grad().block(0, 0, 6, 4)));
  CHECK(!all_zero(x.grad().block(6, 0, 3, 4)));
}

TEST_CASE("Ghost Attention: the instruction goes in front of every message to ask, and of the first to teach") {
  const std::vector<Turn> given = {{{1, 2}, {3}}, {{4}, {5, 6}}, {{7}, {8}}};
  CHECK(ids_of(written({90, 91}, given, 99, Instruct::first_turn)) == List{90, 91, 1, 2, 3, 99, 4, 5, 6, 99, 7, 8, 99});
  const Dialogue every = written({90, 91}, given, 99, Instruct::every_turn);
  CHECK(ids_of(every) == List{90, 91, 1, 2, 3, 99, 90, 91, 4, 5, 6, 99, 90, 91, 7, 8, 99});
  CHECK((every[6].role == Role::system && every[6].turn == 1 && every[11].role == Role::end && every[11].turn == 1));
  CHECK(ids_of(written({90}, {{{1}, {2}}, {{3}, {}}}, 99, Instruct::first_turn)) ==
        List{90, 1, 2, 99, 3});  // to be answered

  // asked with 2, 4, 6 instruction tokens before it, after 4, 10 and 16 tokens
  const Dialogue text = ghost_text({90, 91}, given, 99, Counter());
  CHECK(ids_of(text) == List{90, 91, 1, 2, 3, 99, 4, 5, 6, 99, 7, 106, 216, 99});
  CHECK(ids_of(ghost_text({90, 91}, given, 99, Counter(), Earlier::sampled)) ==
        List{90, 91, 1, 2, 102, 204, 99, 4, 104, 210, 99, 7, 106, 216, 99});
  CHECK(targets_of(text, Teach::last_answer) == List{kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, 106, 216, 99});
}

TEST_CASE("Ghost Attention: a batch is divided once, by the tokens that teach") {
  const Dialogue one = ten_tokens(), two(one.begin(), one.begin() + 6);  // 3 tokens teach, and 1
  Tape tape;
  const Var Z = tape.input(sines({10, 8}, 1, 3, 1), "Z"), Z2 = tape.input(cosines({6, 8}, 2, 1, 3), "Z2");
  const double alone = dialogue_loss({Z}, {one}, Teach::last_answer).value()(0, 0),
               other = dialogue_loss({Z2}, {two}, Teach::last_answer).value()(0, 0);
  const Var both = dialogue_loss({Z, Z2}, {one, two}, Teach::last_answer);
  CHECK(double(both.value()(0, 0)) == Approx((3 * alone + other) / 4));
  CHECK(std::abs(double(both.value()(0, 0)) - (alone + other) / 2) > 1e-3);
  tape.backward(both);
  CHECK(gradient_gap(tape, both, Matrix{{1}}, Z).ok());
  CHECK(gradient_gap(tape, both, Matrix{{1}}, Z2).ok());
}

TEST_CASE("Ghost Attention: nothing to learn gives a loss of 0 and no gradient; sizes that do not fit are errors") {
  const Dialogue only_user = {{1, Role::user, 0}, {2, Role::user, 0}};
  Tape tape;
  const Var Z = tape.input(sines({2, 4}, 1, 3, 1), "Z"), loss = dialogue_loss({Z}, {only_user}, Teach::last_answer);
  CHECK(loss.value()(0, 0) == 0);
  tape.backward(loss);
  CHECK(all_zero(Z.grad()));
  CHECK_THROWS_AS(dialogue_loss({Z}, {ten_tokens()}, Teach::all), ShapeError);
  CHECK_THROWS_AS(dialogue_loss({Z, Z}, {only_user}, Teach::all), ShapeError);
  CHECK_THROWS_AS(dialogue_loss({}, {}, Teach::all), ShapeError);
  CHECK_THROWS_AS(dialogue_loss({tape.rows(Z, 0, 1)}, {{{1, Role::user, 0}}}, Teach::all), ShapeError);
}
