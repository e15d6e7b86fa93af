// Top-k attention: the grid of all variants, what it leaves out, and what no gradient tells it.
#include "layers/attention/top_k.h"

#include <algorithm>
#include <limits>

#include "engine/gradcheck.h"
#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

namespace {
struct Run {
  Tape tape;
  Matrix dY = cosines({5, 3}, 1, 2, 3, 1);
  Var Q, K, V, Y, A;
  explicit Run(const Variant& variant, const Mask* allowed = nullptr) {
    Q = tape.input(sines({5, 4}, 1, 3, 1), "Q"), K = tape.input(cosines({5, 4}, 1, 2, -1), "K"),
    V = tape.input(sines({5, 3}, 1, 1, 2, 0.5), "V");
    std::vector<Var> weights;
    Y = variant(Q, K, V, {.allowed = allowed, .weights = &weights});
    A = weights.at(0);
    tape.backward(Y, dY);
  }
};
}  // namespace

static int above_zero(Mat A, int row) {
  int n = 0;
  for (int j = 0; j < A.cols; ++j) n += A(row, j) > 0;
  return n;
}

TEST_CASE("top-k attention passes the grid with one key, two and all") {
  for (const int k : {1, 2}) check_variant(TopK(k));
  check_variant(TopK(7), {.same_as_plain = true});
}

TEST_CASE("top-k attention has k weights in each row, those of plain attention, renormalised") {
  Run top(TopK(2)), plain(plain_attention);
  for (int i = 0; i < 5; ++i) {
    CHECK(above_zero(top.A.value(), i) == 2);
    double kept = 0, smallest = 1, largest_left = 0;
    for (int j = 0; j < 5; ++j) {
      const double a = plain.A.value()(i, j);
      if (top.A.value()(i, j) > 0) {
        kept += a;
        smallest = std::min(smallest, a);
      } else {
        largest_left = std::max(largest_left, a);
      }
    }
    CHECK(smallest >= largest_left);
    for (int j = 0; j < 5; ++j) {
      if (top.A.value()(i, j) > 0)
        CHECK(double(top.A.value()(i, j)) == Approx(double(plain.A.value()(i, j)) / kept).epsilon(1e-5));
    }
  }
}

TEST_CASE("top-k attention: the gradient of a score that was not chosen is exactly 0") {
  Run run(TopK(2));
  const Mat dE = run.tape.find("E").grad(), A = run.A.value();
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) CHECK((dE(i, j) == 0) == (A(i, j) == 0));
  for (Var x : {run.Q, run.K, run.V}) CHECK(gradient_gap(run.tape, run.Y, run.dY, x).ok());
}

TEST_CASE("top-k attention keeps its choice in a replay, though another score has overtaken it") {
  Tape tape;
  const Var q = tape.input(Matrix{{1}}, "q"), k = tape.input(Matrix{{3}, {1}, {2}}, "k"),
            v = tape.input(Matrix{{10}, {20}, {40}}, "v");
  std::vector<Var> weights;
  const TopK two(2);
  two(q, k, v, {.weights = &weights});
  const Matrix before(weights[0].value());
  tape.set(k, Matrix{{3}, {9}, {2}});
  tape.replay();
  CHECK(bit_difference(weights[0].value(), before) == "");
  Tape fresh;
  const Var chosen_anew = top_k_mask(fresh.input(Matrix{{3, 9, 2}}, "E"), 2, 0);
  CHECK(bit_difference(chosen_anew.value(), Matrix{{3, 9, 0}}) == "");
}

TEST_CASE("top_k_mask: a NaN counts as the largest, and is passed on") {
  Tape tape;
  tape.watch_nonfinite = false;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Var y = top_k_mask(tape.input(Matrix{{5, nan, 7}}, "x"), 2, -1);
  CHECK(y.value()(0, 0) == -1);
  CHECK(y.value()(0, 1) != y.value()(0, 1));
  CHECK(y.value()(0, 2) == 7);
}
