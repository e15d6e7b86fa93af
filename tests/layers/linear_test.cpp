#include "layers/linear.h"

#include <algorithm>
#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static const int n = 5, in = 3, out = 4;

static void check_loops(bool fused) {
  CAPTURE(fused);
  Rng rng(3);
  ParamStore store;
  Linear layer(store, "", in, out, rng);
  layer.fused = fused;
  layer.b->set(random_matrix({1, out}, rng));
  const Matrix x = random_matrix({n, in}, rng), dY = random_matrix({n, out}, rng);
  Tape tape;
  const Var X = tape.input(x, "X");
  const Var Y = layer(X);
  tape.backward(Y, dY);

  Matrix y(Shape{n, out}), dX(Shape{n, in}), dW(Shape{in, out}), db(Shape{1, out});
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < out; ++j) {
      y(i, j) = layer.b->value(0, j);
      db(0, j) += dY(i, j);
      for (int k = 0; k < in; ++k) {
        y(i, j) += x(i, k) * layer.W->value(k, j);
        dW(k, j) += x(i, k) * dY(i, j);
        dX(i, k) += dY(i, j) * layer.W->value(k, j);
      }
    }
  }
  CHECK(difference(Y.value(), y, kRounding) == "");
  CHECK(difference(X.grad(), dX, kRounding) == "");
  CHECK(difference(layer.W->grad, dW, kRounding) == "");
  CHECK(difference(layer.b->grad, db, kRounding) == "");
  CHECK(std::string(tape.nodes.back().op) == (fused ? "linear" : "add_row"));
}

TEST_CASE("linear: Y, dX, dW and db are what plain loops say, in two lines and in one") {
  check_loops(false);
  check_loops(true);
}

TEST_CASE("linear: gradients agree with differences, with and without a bias") {
  Rng rng(4);
  for (Bias bias : {Bias::yes, Bias::no}) {
    ParamStore store;
    const Linear layer(store, "", in, out, rng, bias);
    const Matrix dY = random_matrix({n, out}, rng);
    Tape tape;
    const Var X = tape.input(random_matrix({n, in}, rng), "X");
    const Var Y = layer(X);
    tape.backward(Y, dY);
    CHECK(gradient_gap(tape, Y, dY, X).ok());
    CHECK(gradient_gap(tape, Y, dY, tape.find("W")).ok());
    if (bias == Bias::yes) CHECK(gradient_gap(tape, Y, dY, tape.find("b")).ok());
  }
}

TEST_CASE("linear: without a bias there is no such parameter, and Y is X W") {
  Rng rng(5);
  ParamStore store;
  const Linear layer(store, "_q", in, out, rng, Bias::no);
  CHECK(layer.b == nullptr);
  CHECK(store.all.size() == 1);
  CHECK(store.find("W_q") == layer.W);
  Tape tape;
  const Var Y = layer(tape.input(identity(in), "X"));
  CHECK(bit_difference(Y.value(), layer.W->value) == "");
}

TEST_CASE("linear: the names of its parameters end in the suffix") {
  Rng rng(5);
  ParamStore store;
  const Linear layer(store, "_out", in, out, rng);
  CHECK(store.find("W_out") == layer.W);
  CHECK(store.find("b_out") == layer.b);
  CHECK_THROWS_AS(Linear(store, "_out", in, out, rng), InputError);
}

TEST_CASE("linear: an input of another width is an error that says both sizes") {
  Rng rng(6);
  ParamStore store;
  const Linear layer(store, "", in, out, rng);
  Tape tape;
  const Var X = tape.input(Matrix(Shape{n, in + 1}), "X");
  CHECK_THROWS_AS(layer(X), ShapeError);
  CHECK_THROWS_WITH(layer(X), ContainsSubstring("5 x 4") && ContainsSubstring("3 x 4"));
}

TEST_CASE("linear: no rows give no rows") {
  Rng rng(6);
  ParamStore store;
  const Linear layer(store, "", in, out, rng);
  Tape tape;
  const Var Y = layer(tape.input(Matrix(Shape{0, in}), "X"));
  tape.backward(Y, Matrix(Shape{0, out}));
  CHECK(Y.shape() == Shape{0, out});
  CHECK(all_zero(layer.W->grad));
  CHECK(all_zero(layer.b->grad));
}

TEST_CASE("I17 a linear layer from 64 to 32 starts with Xavier's bound and deviation, its bias at zero") {
  double largest = 0, sum = 0, sum_of_squares = 0;
  long count_of_all = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    ParamStore store;
    const Linear layer(store, "", 64, 32, rng);
    CHECK(all_zero(layer.b->value));
    for (int i = 0; i < 64; ++i) {
      for (int j = 0; j < 32; ++j) {
        const double w = double(layer.W->value(i, j));
        largest = std::max(largest, std::fabs(w));
        sum += w;
        sum_of_squares += w * w;
        ++count_of_all;
      }
    }
  }
  const double mean = sum / double(count_of_all);
  CHECK(largest <= 0.25);
  CHECK(largest > 0.98 * 0.25);
  CHECK(std::fabs(mean) < 0.002);
  CHECK(std::sqrt(sum_of_squares / double(count_of_all)) == Approx(0.1443375673).epsilon(0.02));
}
