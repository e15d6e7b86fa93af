// Who checks the checker? It must find small mistakes, raise no false alarm, and leave no trace.
#include "engine/gradcheck.h"

#include <cmath>
#include <limits>

#include "engine/ops.h"
#include "layers/attention/self_attention.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

// y = exp(x) ∘ x: smooth, with gradients of ordinary size
struct Sample {
  Tape tape;
  Var x, y;
  Matrix seed;

  Sample() {
    Rng rng(3);
    x = tape.input(random_matrix({2, 3}, rng), "x");
    y = mul(exp(x), x);
    seed = random_matrix({2, 3}, rng);
    tape.backward(y, seed);
  }
  GradGap gap() { return gradient_gap(tape, y, seed, x); }
};

TEST_CASE("the checker accepts a right gradient and looks at every entry") {
  Sample s;
  const GradGap gap = s.gap();
  CHECK(gap.ok());
  CHECK(gap.checked == 6);
  CHECK(gap.entries == 6);
}

TEST_CASE("the checker finds one entry that is 1 % too large, and says which") {
  for (int r = 0; r < 2; ++r) {
    for (int c = 0; c < 3; ++c) {
      Sample s;
      const double right = double(s.x.grad()(r, c));
      s.x.grad()(r, c) *= Real(1.01);
      const GradGap gap = s.gap();
      INFO("entry " << r << " " << c << ": " << right);
      CHECK_FALSE(gap.ok());
      CHECK(gap.row == r);
      CHECK(gap.col == c);
      CHECK(gap.numeric == Approx(right).epsilon(gradient_tolerance()));
      CHECK(gap.taped == Approx(1.01 * right).epsilon(1e-6));
    }
  }
}

TEST_CASE("the checker finds one entry of the wrong sign") {
  Sample s;
  s.x.grad()(1, 2) *= -1;
  const GradGap gap = s.gap();
  CHECK_FALSE(gap.ok());
  CHECK(gap.worst == Approx(2).epsilon(0.01));
  CHECK(gap.row == 1);
  CHECK(gap.col == 2);
}

TEST_CASE("the checker finds a gradient that is missing") {
  Sample s;
  s.tape.be.fill(s.x.grad(), 0);
  CHECK(s.gap().worst == Approx(1).epsilon(0.01));
}

TEST_CASE("the checker does not take a NaN for a small difference") {
  for (int bad : {0, 1, 2}) {  // first, in the middle, last
    Sample s;
    s.x.grad()(bad > 0, bad) = std::numeric_limits<Real>::quiet_NaN();
    const GradGap gap = s.gap();
    CHECK_FALSE(gap.ok());
    CHECK(std::isnan(gap.taped));
    CHECK(gap.col == bad);
  }
}

TEST_CASE("the checker puts every value back, bit for bit") {
  Tape tape;
  Rng rng(4);
  ParamStore store;
  const SelfAttention attend(store, 4, 3, 2, rng);
  const Var X = tape.input(random_matrix({5, 4}, rng), "X");
  const Var Y = attend(X);
  const Matrix seed = random_matrix({5, 2}, rng);
  tape.backward(Y, seed);
  std::vector<Matrix> before;
  for (const Node& n : tape.nodes) before.emplace_back(n.value);
  for (const char* name : {"X", "W_q", "W_k", "W_v", "Q", "A"}) {
    CHECK(gradient_gap(tape, Y, seed, tape.find(name)).ok());
    for (std::size_t id = 0; id < before.size(); ++id) CHECK(bit_difference(tape.nodes[id].value, before[id]) == "");
  }
}

TEST_CASE("the checker nudges a view in its parent, and a parameter wherever it is used") {
  Tape tape;
  Rng rng(5);
  ParamStore store;
  Param& w = store.make("w", {2, 2}, Init::normal, rng);
  const Var first = tape.use(w);
  const Var squares = mul(first, exp(first));
  const Var second = tape.use(w), block = tape.view(second, 0, 1, 2, 1);
  const Var y = add_col(squares, exp(block));
  const Matrix seed = random_matrix({2, 2}, rng);
  tape.backward(y, seed);
  CHECK(gradient_gap(tape, y, seed, block).ok());
  CHECK(gradient_gap(tape, y, seed, first).ok());
  CHECK(gradient_gap(tape, y, seed, second).ok());
}

TEST_CASE("a large matrix is sampled") {
  Tape tape;
  Rng rng(6);
  const Var x = tape.input(random_matrix({40, 50}, rng), "x");
  tape.backward(sum(exp(x)));
  const GradGap gap = gradient_gap(tape, tape.var(2), Matrix{{1}}, x, 20);
  CHECK(gap.checked == 20);
  CHECK(gap.entries == 2000);
  CHECK(gap.ok());
}

// ---- why the seed is random

struct LazySoftmaxOp final : Op {  // the values are right, nothing goes back
  const char* name() const override { return "lazy_softmax"; }
  void forward(Step& s) override { s.be.softmax_rows(s.x[0], s.y); }
  void backward(Step&) override {}
};

TEST_CASE("a softmax whose backward does nothing passes under a seed of ones and fails under a random one") {
  Rng rng(7);
  const Matrix scores = random_matrix({3, 4}, rng), random = random_matrix({3, 4}, rng);
  Matrix ones(Shape{3, 4});
  cpu_backend().fill(ones, 1);
  for (bool blind : {true, false}) {
    Tape tape;
    const Var E = tape.input(scores, "E");
    const Var A = tape.record<LazySoftmaxOp>(E.shape(), {E}, {});
    const Matrix& seed = blind ? ones : random;
    tape.backward(A, seed);
    CHECK(gradient_gap(tape, A, seed, E).ok() == blind);
  }
}
