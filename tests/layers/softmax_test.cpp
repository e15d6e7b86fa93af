#include "layers/softmax.h"

#include <cmath>
#include <limits>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

namespace {
struct Outcome {
  Matrix A, dE;
};
}  // namespace

static Outcome run(Var (*form)(Var), const Matrix& scores, const Matrix& dA) {
  Tape tape;
  const Var E = tape.input(scores, "E");
  const Var A = form(E);
  tape.backward(A, dA);
  return {Matrix(A.value()), Matrix(E.grad())};
}

static Var as_op(Var E) { return softmax(E); }

static Matrix with_temperature(const Matrix& scores, double temperature) {
  Tape tape;
  return Matrix(Softmax{temperature}(tape.constant(scores, "E")).value());
}

TEST_CASE("softmax: the five steps and the op agree, forward and backward") {
  Rng rng(1);
  for (Shape s : {Shape{1, 1}, Shape{3, 1}, Shape{1, 4}, Shape{5, 7}}) {
    CAPTURE(s.rows, s.cols);
    Matrix scores = random_matrix(s, rng);
    for (int i = 0; i < s.rows; ++i) scores(i, 0) *= 20;
    const Matrix dA = random_matrix(s, rng);
    const Outcome steps = run(softmax_steps, scores, dA), op = run(as_op, scores, dA);
    CHECK(difference(steps.A, op.A, kRounding) == "");
    CHECK(difference(steps.dE, op.dE, kRounding) == "");
  }
}

TEST_CASE("softmax: each form agrees with differences") {
  Rng rng(2);
  const Matrix dA = random_matrix({4, 5}, rng);
  for (Var (*form)(Var) : {as_op, softmax_steps}) {
    Tape tape;
    const Var E = tape.input(random_matrix({4, 5}, rng), "E");
    const Var A = form(E);
    tape.backward(A, dA);
    CHECK(gradient_gap(tape, A, dA, E).ok());
  }
  Tape tape;
  const Var E = tape.input(random_matrix({4, 5}, rng), "E");
  const Var A = Softmax{0.4}(E);
  tape.backward(A, dA);
  CHECK(gradient_gap(tape, A, dA, E).ok());
}

TEST_CASE("softmax: both forms give PyTorch's values and gradients") {
  const ReferenceFile file("softmax.txt");  // rows of ±1000, tiny, equal; one column; one entry
  for (const char* name : {"rows", "column", "one"}) {
    for (Var (*form)(Var) : {as_op, softmax_steps}) {
      CAPTURE(name);
      const std::string block = name;
      const Outcome o = run(form, file[block + ".E"], file[block + ".dA"]);
      CHECK(difference(o.A, file[block + ".A"], kRounding) == "");
      CHECK(difference(o.dE, file[block + ".dE"], kRounding) == "");
    }
  }
}

TEST_CASE("softmax: the steps are lines of the tape that can be looked at") {
  Tape tape;
  softmax_steps(tape.input(Matrix{{1, 3, 2}, {0, -1, -2}}, "E"));
  CHECK(difference(tape.find("m").value(), Matrix{{3}, {0}}) == "");
  CHECK(difference(tape.find("Z").value(), Matrix{{-2, 0, -1}, {0, -1, -2}}) == "");
  CHECK(difference(tape.find("P").value(), Matrix{{0.1353352832, 1, 0.3678794412}, {1, 0.3678794412, 0.1353352832}}) ==
        "");
  CHECK(difference(tape.find("s").value(), Matrix{{1.503214724}, {1.503214724}}) == "");
  CHECK(difference(tape.find("A").value(), Matrix{{0.09003057317, 0.6652409558, 0.2447284711},
                                                  {0.6652409558, 0.2447284711, 0.09003057317}}) == "");
}

TEST_CASE("softmax: scores of a thousand neither overflow nor vanish") {
  const Matrix scores{{1000, 1001, 999}, {-1000, -999, -1001}, {-1000, 1000, 0}};
  const Matrix want{
      {0.2447284711, 0.6652409558, 0.09003057317}, {0.2447284711, 0.6652409558, 0.09003057317}, {0, 1, 0}};
  for (Var (*form)(Var) : {as_op, softmax_steps}) {
    CHECK(difference(run(form, scores, Matrix(Shape{3, 3})).A, want) == "");
  }
}

TEST_CASE("softmax: a constant added to a row changes nothing, and a gradient row adds up to zero") {
  Rng rng(3);
  Matrix scores{{0.5, -1.25, 2, 0.125}, {3, 0.75, -0.5, 1}};  // exact in float, also after the shift
  const Matrix dA = random_matrix({2, 4}, rng);
  for (Var (*form)(Var) : {as_op, softmax_steps}) {
    const Outcome before = run(form, scores, dA);
    Matrix shifted = scores;
    for (int j = 0; j < 4; ++j) shifted(0, j) += 64, shifted(1, j) -= 512;
    const Outcome after = run(form, shifted, dA);
    CHECK(bit_difference(after.A, before.A) == "");
    CHECK(bit_difference(after.dE, before.dE) == "");
    for (int i = 0; i < 2; ++i) {
      double sum = 0, size = 0;
      for (int j = 0; j < 4; ++j) sum += double(before.dE(i, j)), size += std::fabs(double(before.dE(i, j)));
      CHECK(std::fabs(sum) <= kRounding.absolute);
      CHECK(size > 0.01);
    }
  }
}

TEST_CASE("softmax: temperature 1 is the plain softmax, small ones take the maximum, large ones the mean") {
  const Matrix scores{{1, 3, 2}, {0, -1, -2}};
  CHECK(bit_difference(with_temperature(scores, 1), run(as_op, scores, Matrix(Shape{2, 3})).A) == "");
  const Matrix halved{{0.5, 1.5, 1}, {0, -0.5, -1}};
  CHECK(difference(with_temperature(scores, 2), run(as_op, halved, Matrix(Shape{2, 3})).A, kRounding) == "");
  CHECK(difference(with_temperature(scores, 1e-3), Matrix{{0, 1, 0}, {1, 0, 0}}, {0, 0}) == "");
  const double third = 1.0 / 3;
  CHECK(difference(with_temperature(scores, 1e12), Matrix{{third, third, third}, {third, third, third}}, {0, 1e-7}) ==
        "");
}

TEST_CASE("softmax: a temperature that is not a positive number is an error") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (double temperature : {0.0, -1.0, inf, -inf, nan}) {
    CAPTURE(temperature);
    CHECK_THROWS_AS(with_temperature({{1, 2}}, temperature), InputError);
  }
  CHECK_THROWS_WITH(with_temperature({{1, 2}}, -1), ContainsSubstring("temperature") && ContainsSubstring("-1"));
}

TEST_CASE("softmax: a row of only -inf is zeros in the op and an error in the steps") {
  const double inf = std::numeric_limits<double>::infinity();
  const Matrix scores{{1, 2}, {-inf, -inf}};
  CHECK(all_zero(run(as_op, scores, {{1, 2}, {3, 5}}).A.view().block(1, 0, 1, 2)));
  CHECK(all_zero(run(as_op, scores, {{1, 2}, {3, 5}}).dE.view().block(1, 0, 1, 2)));
  Tape tape;
  const Var E = tape.input(scores, "E");
  CHECK_THROWS_AS(softmax_steps(E), InputError);
  CHECK_THROWS_WITH(softmax_steps(E), ContainsSubstring("row 1"));
  CHECK_THROWS_AS(softmax_steps(tape.input(Matrix{{1, inf}}, "E")), InputError);
}
