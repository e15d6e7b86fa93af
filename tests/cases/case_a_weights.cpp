// Theme A once more, for everything that makes weights without a plain softmax: masks and rows without entries.
#include <limits>
#include <memory>

#include "layers/attention/alternatives.h"
#include "layers/attention/qk_norm.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static const Real kInf = std::numeric_limits<Real>::infinity();
static const Real kNan = std::numeric_limits<Real>::quiet_NaN();

namespace {
struct Ways {
  ParamStore store;
  Rng rng{1};
  std::vector<std::unique_ptr<Variant>> all;

  explicit Ways(int d) {
    all.push_back(std::make_unique<SigmoidAttention>(store, "", 3, rng));
    all.push_back(std::make_unique<OffByOne>());
    all.push_back(std::make_unique<LearnedSink>(store, "", 1, rng));
    all.push_back(std::make_unique<SoftCap>(2));
    all.push_back(std::make_unique<Sparsemax>());
    all.push_back(std::make_unique<Entmax15>());
    all.push_back(std::make_unique<RmsQkNorm>(store, "_rms", d, rng));
    all.push_back(std::make_unique<LayerQkNorm>(store, "_layer", d, rng));
    all.push_back(std::make_unique<L2QkNorm>(store, "_l2", 3, rng));
    all.push_back(std::make_unique<CosineAttention>(store, "_cosine", 1, rng));
    all.push_back(std::make_unique<LearnedTemperature>(store, "_temperature", d, rng));
  }
};

struct Attended {
  Tape tape;
  Var Q, K, V, Y;
  Attended(const Variant& way, const Matrix& q, const Matrix& k, const Matrix& v, const Mask& seen, const Matrix& dY) {
    Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    Y = way(Q, K, V, {.allowed = &seen});
    tape.backward(Y, dY);
  }
};
}  // namespace

static const Matrix kX{{1, 0}, {0, 1}, {1, 1}}, kV{{1, 2}, {3, 4}, {5, 6}}, kdY{{1, -2}, {3, 5}, {-1, 4}};

TEST_CASE("A07 causal and padding at once, in every way of weighing: what is hidden has no weight") {
  const Mask seen = Mask::causal(3, 3) & Mask::visible({false, true, true}, 3);
  for (const auto& way : Ways(2).all) {
    CAPTURE(way->name());
    Tape tape;
    std::vector<Var> weights;
    const Var Y = (*way)(tape.input(kX, "Q"), tape.input(kX, "K"), tape.input(kV, "V"), {.allowed = &seen, .weights = &weights});
    const Mat A = weights[0].value();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) CHECK((A(i, j) == 0) == !seen(i, j));
    CHECK(all_zero(Y.value().block(0, 0, 1, 2)));
  }
}

TEST_CASE("A08 an empty row is zero in every way of weighing, forward and backward") {
  Mask seen(3, 3);
  seen.set(0, 1, false), seen.set(2, 2, false);
  for (int key = 0; key < 3; ++key) seen.set(1, key, false);
  const Ways ways(2);
  for (const auto& way : ways.all) {
    CAPTURE(way->name());
    const Attended a(*way, kX, kX, kV, seen, kdY);
    CHECK(all_zero(a.Y.value().block(1, 0, 1, 2)));
    CHECK(all_zero(a.Q.grad().block(1, 0, 1, 2)));
    CHECK_FALSE(all_zero(a.V.grad()));
  }
}

TEST_CASE("A09 what a hidden key holds does not leak in any way of weighing, not even NaN") {
  const Mask seen = Mask::visible({true, false, true}, 3);
  const Ways ways(2);
  for (const auto& way : ways.all) {
    const Attended clean(*way, kX, kX, kV, seen, kdY);
    for (const Real content : {Real(1e30), kInf, kNan}) {
      CAPTURE(way->name(), content);
      Matrix k = kX, v = kV;
      k(1, 0) = content, v(1, 1) = content;
      const Attended dirty(*way, kX, k, v, seen, kdY);
      CHECK(bit_difference(dirty.Y.value(), clean.Y.value()) == "");
      CHECK(bit_difference(dirty.Q.grad(), clean.Q.grad()) == "");
      CHECK(all_zero(dirty.K.grad().block(1, 0, 1, 2)));
      CHECK(all_zero(dirty.V.grad().block(1, 0, 1, 2)));
    }
  }
}

TEST_CASE("A13 sparsemax and entmax over one column are exactly 1, and send exactly nothing back") {
  for (Var (*op)(Var, Where) : {sparsemax, entmax15}) {
    Tape tape;
    const Var E = tape.input(Matrix{{3}, {-7}, {1e30}}, "E");
    const Var A = op(E, {});
    tape.backward(A, Matrix{{0.3}, {-1e10}, {7}});
    CHECK(difference(A.value(), Matrix{{1}, {1}, {1}}, {0, 0}) == "");
    CHECK(all_zero(E.grad()));
  }
}

TEST_CASE("A14 sparsemax and entmax of a matrix without rows or without columns") {
  for (Var (*op)(Var, Where) : {sparsemax, entmax15}) {
    for (const Shape s : {Shape{10, 0}, Shape{0, 3}, Shape{0, 0}}) {
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

TEST_CASE("A15 sparsemax and entmax go along rows") {
  Tape tape;
  const Var E = tape.input(Matrix{{0, 0.5}, {2, 5}}, "E");
  CHECK(difference(sparsemax(E).value(), Matrix{{0.25, 0.75}, {0, 1}}) == "");
  // max(z - τ, 0)² with z = 0, 0.25: τ = 0.125 - √(1/2 - 1/64)
  CHECK(difference(entmax15(E).value(), Matrix{{0.32601, 0.67399}, {0, 1}}, {1e-5, 1e-5}) == "");
}
