// LSH attention: the Reformer's rounds by numbers that were computed elsewhere, and as one softmax over what they found.
#include "layers/attention/lsh.h"

#include <limits>

#include "engine/errors.h"
#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;
using Form = Lsh::Form;

namespace {
// Eight tokens of width 4, values of width 3; two rounds with given rotations.
struct Fixture {
  std::vector<Matrix> rotations = {cosines({4, 2}, 1, 2, 3, 0.3), cosines({4, 2}, 1, 2, 3, 1.6)};
  Mask causal = Mask::causal(8, 8);
  Matrix qk = sines({8, 4}, 1, 2, 0.6, 0.3), v = sines({8, 3}, 1, 1, 2, 0.5), dY = cosines({8, 3}, 1, 2, 3, 1);
  Lsh lsh;
  Tape tape;
  Var Q = tape.input(qk, "Q"), V = tape.input(v, "V"), Y;
  explicit Fixture(Form form) {
    lsh.rotations = &rotations;
    lsh.form = form;
    Y = lsh(Q, Q, V, {.allowed = &causal});
    tape.backward(Y, dY);
  }
  std::vector<KeyLists> found() const {
    std::vector<KeyLists> all;
    for (const LshRound& round : lsh.hash(qk)) all.push_back(lsh_found(round, lsh.chunk, &causal));
    return all;
  }
};

struct Run {  // one head of random numbers
  Tape tape;
  Var Q, V, Y;
  Run(const Lsh& lsh, const Matrix& q, const Matrix& v, const Mask* mask, const Matrix& dY) {
    Q = tape.input(q, "Q"), V = tape.input(v, "V");
    Y = lsh(Q, Q, V, {.allowed = mask});
    tape.backward(Y, dY);
  }
};
}  // namespace

static const Form kForms[] = {Form::one_softmax, Form::rounds};

TEST_CASE("lsh: buckets, order and how often a pair is found") {
  Fixture f(Form::one_softmax);
  const std::vector<LshRound> rounds = f.lsh.hash(f.qk);
  REQUIRE(rounds.size() == 2);
  CHECK(rounds[0].bucket == std::vector<int>{0, 2, 1, 0, 2, 1, 0, 3});
  CHECK(rounds[1].bucket == std::vector<int>{3, 2, 0, 3, 2, 0, 3, 2});
  CHECK(rounds[0].order == std::vector<int>{0, 3, 6, 2, 5, 1, 4, 7});
  CHECK(rounds[1].order == std::vector<int>{2, 5, 1, 4, 7, 0, 3, 6});
  const int N[8][8] = {{2, 0, 0, 0, 0, 0, 0, 0}, {0, 2, 0, 0, 0, 0, 0, 0}, {0, 0, 2, 0, 0, 0, 0, 0}, {2, 0, 0, 2, 0, 0, 0, 0},
                       {0, 2, 0, 0, 2, 0, 0, 0}, {0, 0, 2, 0, 0, 2, 0, 0}, {2, 0, 0, 2, 0, 0, 2, 0}, {0, 1, 0, 0, 1, 0, 0, 2}};
  const std::vector<KeyLists> found = f.found();
  for (int t = 0; t < 8; ++t)
    for (int u = 0; u < 8; ++u) CHECK(int(found[0].has(t, u)) + int(found[1].has(t, u)) == N[t][u]);
}

TEST_CASE("lsh: values and gradients to ten digits, in both forms") {
  for (const Form form : kForms) {
    CAPTURE(int(form));
    Fixture f(form);
    CHECK(difference(f.Y.value(), Matrix{{0.4794255386, 0.5984721441, -0.9775301177},
                                         {0.9974949866, -0.3507832277, -0.7055403256},
                                         {0.5984721441, -0.9775301177, 0.2151199881},
                                         {0.4794255386, 0.5984721441, -0.9775301177},
                                         {0.9974949866, -0.3507832277, -0.7055403256},
                                         {0.5984721441, -0.9775301177, 0.2151199881},
                                         {0.0518664999, -0.0730966716, 0.0089713974},
                                         {-0.0520852895, -0.0500473777, 0.0937394053}}) == "");
    CHECK(fingerprint(f.Q.grad()) == Approx(0.377826164604).epsilon(kPrinted.relative).margin(kPrinted.absolute));
    CHECK(fingerprint(f.V.grad()) == Approx(1.37411800138).epsilon(kPrinted.relative).margin(kPrinted.absolute));
    for (const Var x : {f.Q, f.V}) CHECK(gradient_gap(f.tape, f.Y, f.dY, x).ok());
  }
}

TEST_CASE("lsh: a token uses itself only if it may use no other") {
  Fixture f(Form::one_softmax);
  const KeyLists all = lsh_union(f.found());
  CHECK(all.of == std::vector<std::vector<int>>{{0}, {1}, {2}, {0}, {1}, {2}, {0, 3}, {1, 4}});
  const Var A = weights_of(f.Y);
  CHECK(A.value()(0, 0) == 1);
  CHECK(A.value()(3, 3) == 0);
}

// Random tokens in both forms, over masks, lengths and settings. Both must agree, and agree with differences.
TEST_CASE("lsh: the weighted rounds are one softmax over the union") {
  Rng rng(4);
  for (const int n : {4, 8, 12}) {
    Mask scattered(n, n, false);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) scattered.set(i, j, rng.uniform() < 0.6);
    std::vector<bool> keys(std::size_t(n), true);
    keys[1] = keys[std::size_t(n - 1)] = false;
    const Mask causal = Mask::causal(n, n), padding = Mask::visible(keys, n), both = causal & padding;
    for (const Mask* mask : {static_cast<const Mask*>(nullptr), &causal, &padding, &both, &static_cast<const Mask&>(scattered)}) {
      for (const int rounds : {1, 3}) {
        for (const int chunk : {2, 4}) {
          CAPTURE(n, rounds, chunk);
          const Matrix q = random_matrix({n, 4}, rng), v = random_matrix({n, 3}, rng), dY = random_matrix({n, 3}, rng);
          Lsh lsh;
          lsh.rounds = rounds, lsh.chunk = chunk, lsh.seed = std::uint64_t(n + rounds);
          Run one(lsh, q, v, mask, dY);
          lsh.form = Form::rounds;
          Run many(lsh, q, v, mask, dY);
          CHECK(difference(many.Y.value(), one.Y.value(), kPrinted) == "");
          CHECK(difference(many.Q.grad(), one.Q.grad(), kPrinted) == "");
          CHECK(difference(many.V.grad(), one.V.grad(), kPrinted) == "");
          for (Run* run : {&one, &many})
            for (const Var x : {run->Q, run->V}) CHECK(gradient_gap(run->tape, run->Y, dY, x).ok());
        }
      }
    }
  }
}

TEST_CASE("lsh: with one bucket for all and one chunk it is attention to all others") {
  Rng rng(6);
  const Matrix v = random_matrix({5, 3}, rng), dY = random_matrix({5, 3}, rng);
  Matrix q = random_matrix({5, 4}, rng);
  for (int i = 0; i < 5; ++i) q(i, 0) = Real(3 + 0.1 * i);  // all on one side of R
  Matrix R(Shape{4, 1});
  R(0, 0) = 1;
  const std::vector<Matrix> rotations = {R};
  Lsh lsh;
  lsh.buckets = 2, lsh.chunk = 5, lsh.rounds = 1, lsh.rotations = &rotations;
  Run run(lsh, q, v, nullptr, dY);
  Mask others(5, 5);
  for (int i = 0; i < 5; ++i) others.set(i, i, false);
  Tape tape;
  const Var Q = tape.input(q, "Q"), V = tape.input(v, "V"), Y = attention_steps(Q, unit_rows(Q), V, &others);
  tape.backward(Y, dY);
  CHECK(difference(run.Y.value(), Y.value(), kRounding) == "");
  CHECK(difference(run.Q.grad(), Q.grad(), kRounding) == "");
  CHECK(difference(run.V.grad(), V.grad(), kRounding) == "");
}

TEST_CASE("lsh: a token's length does not change its bucket") {
  Rng rng(8);
  const Matrix q = random_matrix({64, 6}, rng), R = random_matrix({6, 4}, rng);
  Matrix longer(q);
  for (int i = 0; i < 64; ++i)
    for (int c = 0; c < 6; ++c) longer(i, c) *= Real(i + 1) / 4;
  CHECK(lsh_round(longer, R).bucket == lsh_round(q, R).bucket);
  for (int i = 0; i < 64; ++i)
    for (int c = 0; c < 6; ++c) longer(i, c) = -q(i, c);  // the opposite direction: the opposite bucket
  for (int i = 0; i < 64; ++i) CHECK(lsh_round(longer, R).bucket[std::size_t(i)] == (lsh_round(q, R).bucket[std::size_t(i)] + 4) % 8);
}

TEST_CASE("lsh: of equal numbers the first names the bucket, so a row of zeros is in bucket 0") {
  Matrix q(Shape{2, 3});
  for (int c = 0; c < 3; ++c) q(1, c) = 1;
  const LshRound round = lsh_round(q, Matrix{{1, 2, 2}, {1, 1, 1}, {1, 0, 0}});
  CHECK(round.bucket == std::vector<int>{0, 0});
  Tape tape;
  const Var k = unit_rows(tape.input(q, "Q"));
  CHECK(all_zero(k.value().block(0, 0, 1, 3)));
}

TEST_CASE("lsh: more rounds find more, and never less") {
  Rng rng(9);
  const Matrix q = random_matrix({32, 4}, rng);
  Lsh lsh;
  lsh.rounds = 8;
  std::vector<KeyLists> found;
  long before = 0;
  for (const LshRound& round : lsh.hash(q)) {
    found.push_back(lsh_found(round, lsh.chunk));
    for (const auto& keys : found.back().of) CHECK(keys.size() <= 8);  // two chunks
    KeyLists all = found[0];
    for (const KeyLists& one : found) all = all | one;
    CHECK(all.pairs() >= before);
    before = all.pairs();
  }
  CHECK(before > found[0].pairs());
}

TEST_CASE("lsh: a replay keeps the buckets, a new recording decides again") {
  for (const Form form : kForms) {
    Fixture f(form);
    const Matrix turned = sines({8, 4}, 1, 0.7, 2.1, 1.1);
    const std::vector<LshRound> before = f.lsh.hash(f.qk), after = f.lsh.hash(turned);
    REQUIRE(before[0].bucket != after[0].bucket);
    f.tape.set(f.Q, turned);
    f.tape.replay();
    Tape tape;
    const Var Q = tape.input(turned, "Q"), V = tape.input(f.v, "V");
    CHECK(difference(f.Y.value(), lsh_one_softmax(Q, unit_rows(Q), V, f.found()).value()) == "");
    CHECK(difference(f.Y.value(), f.lsh(Q, Q, V, {.allowed = &f.causal}).value()) != "");
  }
}

TEST_CASE("lsh: no token uses a later one, and hidden tokens may hold anything") {
  Rng rng(10);
  const int n = 12;
  const Matrix q = random_matrix({n, 4}, rng), v = random_matrix({n, 3}, rng), dY = random_matrix({n, 3}, rng);
  Matrix other_q(q), other_v(v);
  for (int c = 0; c < 4; ++c) other_q(5, c) = std::numeric_limits<Real>::quiet_NaN();
  for (int c = 0; c < 3; ++c) other_v(5, c) = std::numeric_limits<Real>::quiet_NaN();
  std::vector<bool> keys(std::size_t(n), true);
  keys[5] = false;
  const Mask padding = Mask::visible(keys, n), causal = Mask::causal(n, n);
  Lsh lsh;
  Run a(lsh, q, v, &padding, dY);
  Tape tape;
  tape.watch_nonfinite = false;
  const Var Q = tape.input(other_q, "Q"), V = tape.input(other_v, "V"), Y = lsh(Q, Q, V, {.allowed = &padding});
  tape.backward(Y, dY);
  CHECK(bit_difference(Y.value(), a.Y.value()) == "");
  CHECK(all_zero(Y.value().block(5, 0, 1, 3)));
  CHECK(all_zero(V.grad().block(5, 0, 1, 3)));
  CHECK(bit_difference(Q.grad().block(6, 0, 6, 4), a.Q.grad().block(6, 0, 6, 4)) == "");

  Run c(lsh, q, v, &causal, dY);
  const Var A = weights_of(c.Y);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) CHECK(A.value()(i, j) == 0);
}

TEST_CASE("lsh: heads and batches, each with buckets of its own") {
  Rng rng(11);
  const Matrix q = random_matrix({16, 6}, rng), v = random_matrix({16, 4}, rng), dY = random_matrix({16, 4}, rng);
  const Mask causal = Mask::causal(8, 8);
  Lsh lsh;
  Tape tape;
  const Var Q = tape.input(q, "Q"), V = tape.input(v, "V");
  std::vector<Var> weights;
  const Var Y = multi_head(Q, Q, V, {.batch = 2, .heads = 2, .mask = &causal, .weights = &weights}, lsh);
  CHECK(weights.size() == 4);
  tape.backward(Y, dY);
  for (const Var x : {Q, V}) CHECK(gradient_gap(tape, Y, dY, x).ok());
  for (int b = 0; b < 2; ++b) {
    for (int h = 0; h < 2; ++h) {
      const Var q1 = tape.view(Q, 8 * b, 3 * h, 8, 3), v1 = tape.view(V, 8 * b, 2 * h, 8, 2);
      const Var alone = lsh(q1, q1, v1, {.allowed = &causal, .head = h, .heads = 2});
      CHECK(bit_difference(alone.value(), Y.value().block(8 * b, 2 * h, 8, 2)) == "");
    }
  }
  CHECK(lsh.hash(q, {.head = 0})[0].bucket != lsh.hash(q, {.head = 1})[0].bucket);
}

TEST_CASE("lsh: the layer has three matrices, and a gradient for each") {
  ParamStore store;
  Rng rng(12);
  LshAttention layer(store, "", 6, 2, rng);
  CHECK(store.all.size() == 3);
  Tape tape;
  const Var X = tape.input(random_matrix({8, 6}, rng), "X"), Y = layer(X);
  const Matrix dY = random_matrix({8, 6}, rng);
  tape.backward(Y, dY);
  for (const char* line : {"X", "W_qk", "W_v", "W_o"}) {
    CAPTURE(line);
    CHECK(gradient_gap(tape, Y, dY, tape.find(line)).ok());
    CHECK_FALSE(all_zero(tape.find(line).grad()));
  }
}

TEST_CASE("lsh: what it cannot do is an error") {
  Tape tape;
  const Var Q = tape.input(sines({8, 4}, 1, 2, 1), "Q"), K = tape.input(sines({8, 4}, 1, 2, 1), "K"), V = tape.input(sines({8, 3}, 1, 1, 2), "V");
  Lsh lsh;
  CHECK_NOTHROW(lsh(Q, Q, V));
  CHECK_THROWS_AS(lsh(Q, K, V), InputError);  // not shared, though equal
  CHECK_THROWS_AS(lsh(tape.rows(Q, 0, 4), Q, V), ShapeError);
  lsh.chunk = 3;
  CHECK_THROWS_AS(lsh(Q, Q, V), ShapeError);
  lsh.chunk = 0;
  CHECK_THROWS_AS(lsh(Q, Q, V), ShapeError);
  lsh.chunk = 4, lsh.buckets = 3;
  CHECK_THROWS_AS(lsh(Q, Q, V), InputError);
  lsh.buckets = 0;
  CHECK_THROWS_AS(lsh(Q, Q, V), InputError);
  lsh.buckets = 4, lsh.rounds = 0;
  CHECK_THROWS_AS(lsh(Q, Q, V), InputError);
  lsh.rounds = 2;
  const std::vector<Matrix> one = {Matrix(Shape{4, 2})}, wrong = {Matrix(Shape{4, 3}), Matrix(Shape{4, 3})};
  lsh.rotations = &one;
  CHECK_THROWS_AS(lsh(Q, Q, V), ShapeError);
  lsh.rotations = &wrong;
  CHECK_THROWS_AS(lsh(Q, Q, V), ShapeError);
  lsh.rotations = nullptr, lsh.form = Form::rounds;
  std::vector<Var> weights;
  CHECK_THROWS_AS(lsh(Q, Q, V, {.weights = &weights}), ShapeError);
}
