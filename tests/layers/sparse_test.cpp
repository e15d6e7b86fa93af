// Sparse attention: by numbers that were computed elsewhere, against dense attention under the same mask, and that the
// pairs outside the pattern are never touched.
#include "layers/attention/sparse.h"

#include <limits>

#include "engine/errors.h"
#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

namespace {
struct MaskedDense final : Variant {  // the definition: every pair is computed, then hidden
  const Sparse& of;
  explicit MaskedDense(const Sparse& sparse) : of(sparse) {}
  const char* name() const override { return "masked dense"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call& call) const override {
    Mask mask = of.pattern(Q.shape().rows, K.shape().rows).mask();
    if (call.allowed) mask = mask & *call.allowed;
    return attention_steps(Q, K, V, &mask);
  }
};

struct Fixture {  // 16 tokens of width 4, values of width 3
  Tape tape;
  Matrix dY = cosines({16, 3}, 1, 2, 3, 1);
  Var Q = tape.input(sines({16, 4}, 1, 3, 1), "Q"), K = tape.input(cosines({16, 4}, 1, 2, -1), "K");
  Var V = tape.input(sines({16, 3}, 1, 1, 2, 0.5), "V"), Y;
  explicit Fixture(const KeyLists& lists) {
    Y = sparse_attention(Q, K, V, lists);
    tape.backward(Y, dY);
  }
};
}  // namespace

static void check_fingerprint(Mat got, double want) { CHECK(fingerprint(got) == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute)); }

TEST_CASE("sparse attention: the strided pattern and the causal window to ten digits") {
  Fixture strided(strided_near(16, 16, 4) | strided_far(16, 16, 4));
  CHECK(difference(strided.Y.value().block(15, 0, 1, 3), Matrix{{0.3193289161, -0.1128440960, -0.2254094890}}) == "");
  check_fingerprint(strided.Y.value(), 0.731554557996);
  check_fingerprint(strided.Q.grad(), -0.428593378131);
  check_fingerprint(strided.K.grad(), 1.03340825661);
  check_fingerprint(strided.V.grad(), 0.122324426051);
  Fixture window(causal_window(16, 16, 4));
  CHECK(difference(window.Y.value().block(15, 0, 1, 3), Matrix{{0.5230766980, 0.0976387352, -0.6043407995}}) == "");
}

TEST_CASE("sparse attention: over all pairs it is plain attention") { check_variant(Sparse(), {.same_as_plain = true}); }

TEST_CASE("sparse attention: each pattern over masks, batches, heads and lengths") {
  for (const Sparse* sparse : sparse_patterns()) check_variant(*sparse);
}

TEST_CASE("sparse attention: each pattern is dense attention under its mask") {
  Rng rng(5);
  for (const Sparse* sparse : sparse_patterns()) {
    const MaskedDense dense(*sparse);
    for (const int n : {1, 4, 9}) {
      const Mask causal = Mask::causal(n, 9);
      for (const Mask* mask : {static_cast<const Mask*>(nullptr), &causal}) {
        CAPTURE(sparse->name(), n, mask != nullptr);
        const Matrix q = random_matrix({2 * n, 8}, rng), k = random_matrix({18, 4}, rng), v = random_matrix({18, 3}, rng);
        const Matrix dY = random_matrix({2 * n, 6}, rng);
        const Heads cut{.batch = 2, .heads = 2, .kv_heads = 1, .mask = mask};
        HeadsRun a(*sparse, q, k, v, cut, dY), b(dense, q, k, v, cut, dY);
        CHECK(difference(a.Y.value(), b.Y.value(), kRounding) == "");
        CHECK(difference(a.Q.grad(), b.Q.grad(), kRounding) == "");
        CHECK(difference(a.K.grad(), b.K.grad(), kRounding) == "");
        CHECK(difference(a.V.grad(), b.V.grad(), kRounding) == "");
      }
    }
  }
}

TEST_CASE("sparse attention: a pair outside the list is never touched") {
  const KeyLists lists = causal_window(16, 16, 4);
  Fixture f(lists);
  Tape tape;
  tape.watch_nonfinite = false;
  Matrix k(f.K.value()), v(f.V.value());
  for (int c = 0; c < 4; ++c) k(5, c) = std::numeric_limits<Real>::quiet_NaN();
  for (int c = 0; c < 3; ++c) v(5, c) = std::numeric_limits<Real>::quiet_NaN();
  const Var Q = tape.input(f.Q.value(), "Q"), Y = sparse_attention(Q, tape.input(k, "K"), tape.input(v, "V"), lists);
  tape.backward(Y, f.dY);
  for (int i = 0; i < 16; ++i) {
    CAPTURE(i);
    CHECK((bit_difference(Y.value().block(i, 0, 1, 3), f.Y.value().block(i, 0, 1, 3)) == "") == !lists.has(i, 5));
    CHECK((bit_difference(Q.grad().block(i, 0, 1, 4), f.Q.grad().block(i, 0, 1, 4)) == "") == !lists.has(i, 5));
  }
}

TEST_CASE("sparse attention: the far keys of the fixed pattern leave three queries empty, and these are exact zeros") {
  Fixture f(fixed_far(16, 16, 4, 1));
  CHECK(all_zero(f.Y.value().block(0, 0, 3, 3)));
  CHECK(all_zero(f.Q.grad().block(0, 0, 3, 4)));
  CHECK_FALSE(all_zero(f.Y.value().block(3, 0, 1, 3)));
  for (Var x : {f.Q, f.K, f.V}) CHECK(gradient_gap(f.tape, f.Y, f.dY, x).ok());
}

TEST_CASE("sparse attention: the weights are those of the masked softmax, also after a replay") {
  const KeyLists lists = window(16, 16, 4);
  const Mask mask = lists.mask();
  Fixture f(lists);
  Var A = weights_of(f.Y);
  CHECK_FALSE(f.tape.node(A).needs_grad);
  for (int turn = 0; turn < 2; ++turn) {
    Tape dense;
    attention_steps(dense.input(f.Q.value(), "Q"), dense.input(f.K.value(), "K"), dense.input(f.V.value(), "V"), &mask);
    CHECK(difference(A.value(), dense.find("A").value(), kRounding) == "");
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j) CHECK((A.value()(i, j) != 0) == lists.has(i, j));
    f.tape.set(f.K, sines({16, 4}, 2, 1, 5));
    f.tape.replay();
  }
}

TEST_CASE("sparse attention: with fewer queries than keys, or more, the weights have a row for each query") {
  for (const int n : {2, 5}) {
    Tape tape;
    const Var Q = tape.input(sines({n, 2}, 1, 3, 1), "Q"), K = tape.input(cosines({3, 2}, 1, 2, -1), "K"), V = tape.input(sines({3, 3}, 1, 1, 2, 0.5), "V");
    const KeyLists lists = window(n, 3, 2);
    const Mask mask = lists.mask();
    const Var A = weights_of(sparse_attention(Q, K, V, lists));
    attention_steps(Q, K, V, &mask);
    CHECK(difference(A.value(), tape.find("A").value(), kRounding) == "");
    CHECK(difference(A.value(), Matrix(A.shape())) != "");
  }
}

TEST_CASE("sparse attention: a number that overflowed is blamed on no single entry") {
  const double large = kDouble ? 1e200 : 1e30;
  Tape tape;
  tape.watch_nonfinite = true;
  const Var a = tape.input(Matrix{{1, large}, {2, 3}}, "a"), b = tape.input(Matrix{{large, large}, {large, 1}}, "b");
  const Var Y = sparse_attention(a, b, b, all_keys(2, 2));
  try {
    tape.backward(Y, Matrix{{1, 1}, {1, 1}});
    FAIL("no error");
  } catch (const NonFiniteError& e) {
    CHECK_THAT(std::string(e.what()), Catch::Matchers::ContainsSubstring("from %0 input \"a\", 2 x 2\n"));
  }
}

TEST_CASE("sparse attention: scores of a thousand neither overflow nor vanish") {
  const KeyLists lists = causal_window(6, 6, 3);
  const Mask mask = lists.mask();
  for (const double size : {2000.0, -2000.0}) {  // all scores far above 0, all far below
    Tape tape;
    Matrix q = sines({6, 2}, 1, 3, 1), k = cosines({6, 2}, 1, 2, -1);
    for (int i = 0; i < 6; ++i) q(i, 0) = Real(size + i), k(i, 0) = 1;
    const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(sines({6, 3}, 1, 1, 2, 0.5), "V");
    const Var Y = sparse_attention(Q, K, V, lists);
    CHECK(difference(Y.value(), attention_steps(Q, K, V, &mask).value(), kRounding) == "");
    CHECK_FALSE(all_zero(Y.value()));
  }
}

TEST_CASE("sparse attention: scores of -inf only give zeros, as softmax does") {
  Tape tape;
  tape.watch_nonfinite = false;
  const Real huge = std::numeric_limits<Real>::max();
  const Var Y =
      sparse_attention(tape.input(Matrix{{huge}, {1}}, "Q"), tape.input(Matrix{{-huge}, {2}}, "K"), tape.input(Matrix{{3}, {4}}, "V"), causal_window(2, 2, 1));
  CHECK(bit_difference(Y.value(), Matrix{{0}, {4}}) == "");
}

TEST_CASE("sparse attention: lists that do not fit are errors") {
  Tape tape;
  const Var X = tape.input(sines({3, 2}, 1, 1, 2), "X");
  KeyLists lists = causal_window(3, 3, 2);
  CHECK_NOTHROW(sparse_attention(X, X, X, lists));
  CHECK_THROWS_AS(sparse_attention(X, X, X, causal_window(2, 3, 2)), ShapeError);  // a query without a list
  for (const std::vector<int>& wrong : {std::vector<int>{1, 1}, {2, 1}, {1, 3}, {-1, 1}}) {
    lists.of[2] = wrong;
    CHECK_THROWS_AS(sparse_attention(X, X, X, lists), ShapeError);
  }
  for (std::vector<int> starts : {std::vector<int>{0, 2, 1, 3}, {1, 2, 3, 3}, {0, 1, 2, 2}}) {
    std::vector<int> keys = {0, 1, 2};
    CHECK_THROWS_AS(sparse_attention(X, X, X, 1, PairList{{starts.data(), 4}, {keys.data(), 3}}), ShapeError);
  }
  CHECK(tape.nodes.size() == 2);
}

namespace {
struct SixInputs {  // what Longformer takes
  Tape tape;
  Rng rng{3};
  Var x[6];
  Matrix dY = random_matrix({7, 3}, rng);
  explicit SixInputs(bool copies) {
    for (int k = 0; k < 6; ++k) {
      const Matrix values = random_matrix({7, k % 3 == 2 ? 3 : 4}, rng);
      x[k] = tape.input(copies && k >= 3 ? Matrix(x[k - 3].value()) : values, "x");
    }
  }
};
}  // namespace

TEST_CASE("Longformer: with copies of Q, K, V it is one softmax over window and global keys") {
  SixInputs in(true);
  Longformer longformer;
  longformer.global = {2};
  const Var Y = longformer(in.x[0], in.x[1], in.x[2], in.x[3], in.x[4], in.x[5]);
  const Var one = sparse_attention(in.x[0], in.x[1], in.x[2], window(7, 7, 2) | global_tokens(7, 7, {2}));
  CHECK(difference(Y.value(), one.value(), kRounding) == "");
}

TEST_CASE("Longformer: global queries use their own projections, ordinary ones see global keys through the ordinary") {
  SixInputs in(false);
  Longformer longformer;
  longformer.global = {2, 5};
  const Mask causal = Mask::causal(7, 7);
  for (const Mask* allowed : {static_cast<const Mask*>(nullptr), &causal}) {
    const Var Y = longformer(in.x[0], in.x[1], in.x[2], in.x[3], in.x[4], in.x[5], allowed);
    KeyLists near = window(7, 7, 2) | global_tokens(7, 7, {2, 5});
    if (allowed) near = near & *allowed;
    const Mask near_mask = near.mask();
    const Var ordinary = attention_steps(in.x[0], in.x[1], in.x[2], &near_mask), global = attention_steps(in.x[3], in.x[4], in.x[5], allowed);
    for (int i = 0; i < 7; ++i) {
      const Var want = i == 2 || i == 5 ? global : ordinary;
      CHECK(difference(Y.value().block(i, 0, 1, 3), want.value().block(i, 0, 1, 3), kRounding) == "");
    }
    in.tape.clear_gradients();
    in.tape.backward(Y, in.dY);
    for (const Var x : in.x) CHECK(gradient_gap(in.tape, Y, in.dY, x).ok());
    for (int i = 0; i < 7; ++i) {
      CHECK(all_zero(in.x[3].grad().block(i, 0, 1, 4)) == (i != 2 && i != 5));                         // Q_g
      CHECK(all_zero(in.x[0].grad().block(i, 0, 1, 4)) == (i == 2 || i == 5 || (allowed && i == 0)));  // Q; alone, a weight is 1
    }
  }
}

TEST_CASE("Longformer: other numbers of queries than of keys are an error") {
  Tape tape;
  const Var X = tape.input(sines({3, 2}, 1, 1, 2), "X"), Z = tape.input(sines({4, 2}, 1, 1, 2), "Z");
  CHECK_THROWS_AS(Longformer()(X, Z, Z, X, Z, Z), ShapeError);
}
