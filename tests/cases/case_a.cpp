// Theme A: masks and softmax. Each test is named after its case.
#include <cmath>
#include <limits>

#include "engine/ops.h"
#include "layers/attention/flash.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static const Real kInf = std::numeric_limits<Real>::infinity();
static const Real kNan = std::numeric_limits<Real>::quiet_NaN();

// Three ways from scores to weights: mask() and softmax(), attention in steps, attention in one line.
namespace {
enum class Way { ops, steps, fused };
}  // namespace
static const Way kWays[] = {Way::ops, Way::steps, Way::fused};

namespace {
struct Weights {
  Matrix A, dE;
};
}  // namespace

// With the identity as keys and as values, attention hands its weights out: Y = A.
static Weights weigh(Way way, const Matrix& scores, const Mask& seen, const Matrix& dA) {
  Tape tape;
  const Var E = tape.input(scores, "E");
  Var A;
  if (way == Way::ops) {
    A = softmax(mask(E, seen.keep(), -kInf));
  } else {
    const Var Q = scale(E, std::sqrt(double(scores.cols())));  // attention divides by it
    const Var I = tape.constant(identity(scores.cols()), "I");
    A = way == Way::steps ? attention_steps(Q, I, I, &seen) : attention_fused(Q, I, I, &seen);
  }
  tape.backward(A, dA);
  return {Matrix(A.value()), Matrix(E.grad())};
}

namespace {
struct Attended {
  Matrix Y, dQ, dK, dV;
};
}  // namespace

static Attended attend(Way way, const Matrix& q, const Matrix& k, const Matrix& v, const Mask& seen, const Matrix& dY,
                       bool watch = true) {
  Tape tape;
  tape.watch_nonfinite = watch;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  const Var Y = way == Way::fused ? attention_fused(Q, K, V, &seen) : attention_steps(Q, K, V, &seen);
  tape.backward(Y, dY);
  return {Matrix(Y.value()), Matrix(Q.grad()), Matrix(K.grad()), Matrix(V.grad())};
}

TEST_CASE("A01 a query whose keys are all masked gives a zero row, forward and backward") {
  const Matrix scores{{1, 2, 3}, {4, 5, 6}}, dA{{1, 2, 4}, {1, 2, 4}};
  const Mask seen = Mask::visible({true, true, true}, 2);
  Mask row_1_hidden = seen;
  for (int key = 0; key < 3; ++key) row_1_hidden.set(1, key, false);
  for (Way way : kWays) {
    CAPTURE(int(way));
    const Weights w = weigh(way, scores, row_1_hidden, dA);
    CHECK(difference(w.A, Matrix{{0.09003057317, 0.2447284711, 0.6652409558}, {0, 0, 0}}) == "");
    CHECK(difference(w.dE, Matrix{{-0.2017091182, -0.3035737595, 0.5052828776}, {0, 0, 0}}) == "");
    CHECK(all_zero(w.A.view().block(1, 0, 1, 3)));
    CHECK(all_zero(w.dE.view().block(1, 0, 1, 3)));
  }
}

static Matrix log_sum_exp_slope(Tape& tape, const Matrix& row, Real& lse) {
  const Var x = tape.input(row, "x");
  const Var y = log_sum_exp(x);
  tape.backward(y);
  lse = y.value()(0, 0);
  return Matrix(x.grad());
}

TEST_CASE("A03 the log-sum-exp of nothing but -inf is -inf, and sends nothing back") {
  Real lse = 0;
  Tape all, one;
  all.watch_nonfinite = false;  // a -inf that no mask has made is reported otherwise
  CHECK(difference(log_sum_exp_slope(all, {{-kInf, -kInf}}, lse), Matrix{{0, 0}}, {0, 0}) == "");
  CHECK(lse == -kInf);
  CHECK(difference(log_sum_exp_slope(one, {{-kInf, 1}}, lse), Matrix{{0, 1}}, {0, 0}) == "");
  CHECK(lse == 1);
}

TEST_CASE("A03 the log-sum-exp of a row that is hidden altogether is meant") {
  Mask nothing(2, 2, true);
  nothing.set(0, 0, false), nothing.set(0, 1, false), nothing.set(1, 0, false);
  Tape tape;
  tape.watch_nonfinite = true;
  const Var x = tape.input(Matrix{{3, 4}, {5, 1}}, "x");
  const Var y = log_sum_exp(mask(x, nothing.keep(), -kInf));
  tape.backward(y, Matrix{{7}, {1}});
  CHECK(y.value()(0, 0) == -kInf);
  CHECK(y.value()(1, 0) == 1);
  CHECK(difference(x.grad(), Matrix{{0, 0}, {0, 1}}, {0, 0}) == "");
}

TEST_CASE("A05 a softmax row that begins with -inf") {
  Tape tape;
  const Var E = tape.input(Matrix{{-kInf, -kInf, -kInf, -kInf, 0.5, 1.5}}, "E");
  const Var A = softmax(E);
  CHECK(difference(A.value(), Matrix{{0, 0, 0, 0, 0.2689414214, 0.7310585786}}) == "");
  CHECK(all_zero(A.value().block(0, 0, 1, 4)));

  tape.backward(A, Matrix{{9, 9, 9, 9, 0, 1}});
  CHECK(all_zero(E.grad().block(0, 0, 1, 4)));
  CHECK(difference(E.grad(), Matrix{{0, 0, 0, 0, -0.1966119332, 0.1966119332}}) == "");  // p (1 - p)
}

// Query 1 x 1, keys = scores, values = the identity: the tiles hand the weights out.
TEST_CASE("A05 tiles that hold nothing but -inf so far change nothing, whatever their size") {
  const Matrix scores{{-kInf}, {-kInf}, {-kInf}, {-kInf}, {0.5}, {1.5}}, dA{{9, 9, 9, 9, 0, 1}};
  const Matrix finite{{7}, {-3}, {kNan}, {1e30}, {0.5}, {1.5}};  // the same, hidden by a mask
  const Mask seen = Mask::visible({false, false, false, false, true, true}, 1);
  Mask row(1, 6);  // as any mask, and as padding
  for (int j = 0; j < 4; ++j) row.set(0, j, false);
  for (int tile : {1, 2, 3, 4, 6}) {
    for (bool masked : {false, true}) {
      CAPTURE(tile, masked);
      Tape tape;
      tape.watch_nonfinite = false;  // a -inf that no mask has made is reported otherwise
      const Var Q = tape.input(Matrix{{1}}, "Q"), K = tape.input(masked ? finite : scores, "K"), V = tape.input(identity(6), "V");
      Tiling tiling{.queries = 1, .keys = tile};
      if (masked) tiling.keep = row.keep();
      const Var A = flash_attention(Q, K, V, 1, tiling);
      CHECK(difference(A.value(), Matrix{{0, 0, 0, 0, 0.2689414214, 0.7310585786}}) == "");
      CHECK(all_zero(A.value().block(0, 0, 1, 4)));
      tape.backward(A, dA);
      CHECK(difference(K.grad(), Matrix{{0}, {0}, {0}, {0}, {-0.1966119332}, {0.1966119332}}) == "");
      CHECK(all_zero(K.grad().block(0, 0, 4, 1)));

      if (!masked) continue;
      OnlineSoftmax steps;  // the same in ops
      steps.keys = tile;
      Tape other;
      const Var K2 = other.input(finite, "K"), Y = steps(other.input(Matrix{{1}}, "Q"), K2, other.input(identity(6), "V"), {.allowed = &seen});
      other.backward(Y, dA);
      CHECK(difference(Y.value(), A.value(), kRounding) == "");
      CHECK(difference(K2.grad(), K.grad(), kRounding) == "");
    }
  }
}

TEST_CASE("A07 a causal mask and a padding mask are joined before any score is replaced") {
  const Mask seen = Mask::causal(3, 3) & Mask::visible({false, true, true}, 3);
  for (Way way : kWays) {
    CAPTURE(int(way));
    const Weights w = weigh(way, {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, seen, {{3, 1, 2}, {1, 2, 4}, {5, 0, 1}});
    CHECK(difference(w.A, Matrix{{0, 0, 0}, {0, 1, 0}, {0, 0.2689414214, 0.7310585786}}) == "");
    CHECK(difference(w.dE, Matrix{{0, 0, 0}, {0, 0, 0}, {0, -0.1966119332, 0.1966119332}}) == "");
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        if (seen(i, j)) continue;
        CHECK(w.A(i, j) == 0);
        CHECK(w.dE(i, j) == 0);
      }
    }
  }
}

// The same attention, with the mask as a bias of 0 and -inf that is added to the scores.
static Attended attend_with_bias(const Matrix& q, const Matrix& k, const Matrix& v, const Mask& seen,
                                 const Matrix& dY) {
  Matrix bias(Shape{seen.queries(), seen.keys()});
  for (int i = 0; i < seen.queries(); ++i)
    for (int j = 0; j < seen.keys(); ++j) bias(i, j) = seen(i, j) ? 0 : -kInf;
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  const Var E = scale(matmul_nt(Q, K), 1 / std::sqrt(double(q.cols())));
  const Var Y = matmul(softmax(add(E, tape.constant(bias, "bias"))), V);
  tape.backward(Y, dY);
  return {Matrix(Y.value()), Matrix(Q.grad()), Matrix(K.grad()), Matrix(V.grad())};
}

TEST_CASE("A08 a boolean mask and the equal 0 and -inf bias give the same bits") {
  const Matrix qk{{1, 0}, {0, 1}, {1, 1}}, v{{1, 2}, {3, 4}, {5, 6}}, dY{{1, 2}, {4, 8}, {-3, 5}};
  Mask seen(3, 3, false);
  seen.set(0, 0, true), seen.set(0, 2, true), seen.set(2, 0, true), seen.set(2, 1, true);  // query 1 sees nothing
  const Attended bias = attend_with_bias(qk, qk, v, seen, dY);
  for (Way way : {Way::steps, Way::fused}) {
    CAPTURE(int(way));
    const Attended a = attend(way, qk, qk, v, seen, dY);
    CHECK(difference(a.Y, Matrix{{3, 4}, {0, 0}, {2, 3}}) == "");
    CHECK(all_zero(a.Y.view().block(1, 0, 1, 2)));
    CHECK(all_zero(a.dQ.view().block(1, 0, 1, 2)));
    CHECK(bit_difference(a.Y, bias.Y) == "");
    CHECK(bit_difference(a.dQ, bias.dQ) == "");
    CHECK(bit_difference(a.dK, bias.dK) == "");
    CHECK(bit_difference(a.dV, bias.dV) == "");

    const Matrix A = attend(way, qk, qk, identity(3), seen, Matrix(Shape{3, 3})).Y;  // values that show the weights
    CHECK(difference(A, Matrix{{0.5, 0, 0.5}, {0, 0, 0}, {0.5, 0.5, 0}}) == "");
  }
}

// Key 1 is hidden from every query; whatever its row of K or of V holds, nothing may change.
static void check_that_key_1_is_out(const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& dY) {
  std::vector<bool> keys(std::size_t(k.rows()), true);
  keys[1] = false;
  const Mask seen = Mask::visible(keys, q.rows());
  for (Way way : {Way::steps, Way::fused}) {
    for (bool watch : {false, true}) {
      const Attended clean = attend(way, q, k, v, seen, dY, watch);
      CHECK(all_zero(clean.dK.view().block(1, 0, 1, k.cols())));
      CHECK(all_zero(clean.dV.view().block(1, 0, 1, v.cols())));
      for (Real content : {Real(1e30), kInf, -kInf, kNan}) {
        for (bool in_k : {true, false}) {
          CAPTURE(int(way), watch, content, in_k);
          Matrix k2 = k, v2 = v;
          Matrix& changed = in_k ? k2 : v2;
          for (int c = 0; c < changed.cols(); ++c) changed(1, c) = content;
          const Attended a = attend(way, q, k2, v2, seen, dY, watch);
          CHECK(bit_difference(a.Y, clean.Y) == "");
          CHECK(bit_difference(a.dQ, clean.dQ) == "");
          CHECK(bit_difference(a.dK, clean.dK) == "");
          CHECK(bit_difference(a.dV, clean.dV) == "");
        }
      }
    }
  }
}

TEST_CASE("A09 what a masked key holds does not leak, not even NaN") {
  const Matrix x{{0, 1, 2, 3}, {4, 5, 6, 7}}, dY{{1, -2, 3, 5}, {-1, 4, 2, 2}};
  const Mask first_only = Mask::visible({true, false}, 2);
  for (Way way : {Way::steps, Way::fused}) {
    CHECK(difference(attend(way, x, x, x, first_only, dY).Y, Matrix{{0, 1, 2, 3}, {0, 1, 2, 3}}, {0, 0}) == "");
  }
  check_that_key_1_is_out(x, x, x, dY);

  Rng rng(9);  // three visible keys: now the weights are no longer 0 and 1
  check_that_key_1_is_out(random_matrix({3, 2}, rng), random_matrix({4, 2}, rng), random_matrix({4, 5}, rng),
                          random_matrix({3, 5}, rng));
}

TEST_CASE("A09 what a masked score holds does not leak, not even NaN") {
  const Matrix dA{{2, -1, 5}};
  const Mask seen = Mask::visible({true, false, true}, 1);
  const Weights clean = weigh(Way::ops, {{1, 7, 2}}, seen, dA);
  CHECK(difference(clean.A, Matrix{{0.2689414214, 0, 0.7310585786}}) == "");
  for (Real content : {Real(1e30), kInf, kNan}) {
    for (bool watch : {false, true}) {
      CAPTURE(content, watch);
      Tape tape;
      tape.watch_nonfinite = watch;
      const Var E = tape.input(Matrix{{1, content, 2}}, "E");
      const Var A = softmax(mask(E, seen.keep(), -kInf));
      tape.backward(A, dA);
      CHECK(bit_difference(A.value(), clean.A) == "");
      CHECK(bit_difference(E.grad(), clean.dE) == "");
      CHECK(E.grad()(0, 1) == 0);
    }
  }
}

TEST_CASE("A11 a log-sum-exp that is restricted by a mask sends nothing to the hidden entry") {
  const Mask first = Mask::visible({true, false}, 1);
  for (Real hidden : {Real(100), Real(1e30), kInf, kNan}) {
    CAPTURE(hidden);
    Tape tape;
    const Var x = tape.input(Matrix{{0, hidden}}, "x");
    const Var y = log_sum_exp(mask(x, first.keep(), -kInf));
    tape.backward(y);
    CHECK(y.value()(0, 0) == 0);
    CHECK(difference(x.grad(), Matrix{{1, 0}}, {0, 0}) == "");
  }
}

TEST_CASE("A13 a softmax over one column is exactly 1, and sends exactly nothing back") {
  Tape tape;
  const Var E = tape.input(Matrix{{3}, {-7}, {1e30}}, "E");
  const Var A = softmax(E);
  tape.backward(A, Matrix{{0.3}, {-1e10}, {7}});
  CHECK(difference(A.value(), Matrix{{1}, {1}, {1}}, {0, 0}) == "");
  CHECK(all_zero(E.grad()));
}

TEST_CASE("A14 softmax and log-softmax of a matrix without rows or without columns") {
  for (Var (*op)(Var, Where) : {softmax, log_softmax}) {
    for (Shape s : {Shape{10, 0}, Shape{0, 3}, Shape{0, 0}}) {
      CAPTURE(s.rows, s.cols);
      Tape tape;
      const Var E = tape.input(Matrix(s), "E");
      const Var A = op(E, {});
      tape.backward(A, Matrix(s));
      CHECK(A.shape() == s);
      CHECK(E.grad().shape() == s);
    }
  }
}

TEST_CASE("A15 softmax goes along rows") {
  Tape tape;
  const Var A = softmax(tape.input(Matrix{{0, 1}, {2, 5}}, "E"));
  CHECK(difference(A.value(), Matrix{{0.2689414214, 0.7310585786}, {0.04742587318, 0.9525741268}}) == "");
}
