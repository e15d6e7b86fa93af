#include "layers/dropout.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static Matrix filled(Shape s, double value) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(value);
  return m;
}

TEST_CASE("dropout: an entry is 0 or x / (1 - p), and its gradient 0 or dy / (1 - p), at the same places") {
  Rng rng(1);
  Dropout drop(0.25, rng);
  const Matrix x = random_matrix({20, 30}, rng), dy = random_matrix({20, 30}, rng);
  Tape tape;
  const Var X = tape.input(x, "x");
  const Var y = drop(X);
  tape.backward(y, dy);
  int dropped = 0;
  for (int i = 0; i < 20; ++i) {
    for (int j = 0; j < 30; ++j) {
      const bool kept = y.value()(i, j) != 0;
      dropped += !kept;
      CHECK(y.value()(i, j) == Approx(kept ? double(x(i, j)) / 0.75 : 0));
      CHECK(X.grad()(i, j) == Approx(kept ? double(dy(i, j)) / 0.75 : 0));
    }
  }
  CHECK(dropped > 100);  // 150 of 600 on average, deviation 11
  CHECK(dropped < 200);
}

TEST_CASE("dropout: a part p is dropped and the mean is kept") {
  Rng rng(2);
  for (double p : {0.1, 0.5, 0.9}) {
    Dropout drop(p, rng);
    Tape tape;
    const Var y = drop(tape.constant(filled({300, 300}, 1), "x"));
    double sum = 0, dropped = 0;
    for (int i = 0; i < 300; ++i)
      for (int j = 0; j < 300; ++j) sum += double(y.value()(i, j)), dropped += y.value()(i, j) == 0;
    const double n = 300 * 300;
    CHECK(std::fabs(dropped / n - p) < 5 * std::sqrt(p * (1 - p) / n));
    CHECK(std::fabs(sum / n - 1) < 5 * std::sqrt(p / (1 - p) / n));
  }
}

TEST_CASE("dropout: columns and rows are dropped independently") {
  Rng rng(3);
  Dropout drop(0.5, rng);
  Tape tape;
  const Var y = drop(tape.constant(filled({200, 200}, 1), "x"));
  int same_as_right = 0, same_as_below = 0;
  for (int i = 0; i < 199; ++i) {
    for (int j = 0; j < 199; ++j) {
      same_as_right += y.value()(i, j) == y.value()(i, j + 1);
      same_as_below += y.value()(i, j) == y.value()(i + 1, j);
    }
  }
  CHECK(std::fabs(same_as_right / (199.0 * 199) - 0.5) < 0.0126);  // five deviations
  CHECK(std::fabs(same_as_below / (199.0 * 199) - 0.5) < 0.0126);
}

TEST_CASE("dropout: every call chooses anew, and a layer from the same seed chooses the same") {
  Rng rng(4), again(4);
  Dropout drop(0.5, rng), twin(0.5, again), neighbour(0.5, rng);
  Tape tape;
  const Var x = tape.constant(filled({8, 8}, 1), "x");
  const Var first = drop(x), second = drop(x);
  CHECK(bit_difference(first.value(), second.value()) != "");
  CHECK(bit_difference(first.value(), neighbour(x).value()) != "");
  CHECK(bit_difference(first.value(), twin(x).value()) == "");
  CHECK(bit_difference(second.value(), twin(x).value()) == "");
}

TEST_CASE("dropout: a replay keeps the choices, so differences see the same function") {
  Rng rng(5);
  Dropout drop(0.4, rng);
  const Matrix dy = random_matrix({5, 6}, rng);
  Tape tape;
  const Var x = tape.input(random_matrix({5, 6}, rng), "x");
  const Var y = drop(x);
  const Matrix before(y.value());
  tape.replay();
  CHECK(bit_difference(y.value(), before) == "");
  tape.backward(y, dy);
  CHECK(gradient_gap(tape, y, dy, x).ok());
}

TEST_CASE("dropout: with p = 0 nothing is recorded, also in training") {
  Rng rng(6);
  Dropout drop(0, rng);
  Tape tape;
  const Var x = tape.input(filled({2, 2}, 1), "x");
  CHECK(drop(x).id == x.id);
  CHECK(tape.nodes.size() == 1);
}

TEST_CASE("dropout: in evaluation x comes back as it is, no line is recorded, no choice is used up") {
  Rng rng(6), again(6);
  Dropout drop(0.5, rng), twin(0.5, again);
  Tape tape;
  const Var x = tape.input(filled({8, 8}, 1), "x");
  drop.training = false;
  const Var y = drop(x);
  CHECK(y.id == x.id);
  CHECK(tape.nodes.size() == 1);
  drop.training = true;
  CHECK(bit_difference(drop(x).value(), twin(x).value()) == "");
}
