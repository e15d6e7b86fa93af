// Theme C: layer norm. Each test is named after its case, and runs in the op and in the small steps.
#include <cmath>

#include "layers/layer_norm.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {
using Form = Var (*)(Var x, Var gain, Var bias, double eps);
struct Outcome {
  Matrix y, dx, dgain, dbias;
};
}  // namespace

static Var as_op(Var x, Var gain, Var bias, double eps) { return layer_norm(x, gain, bias, eps); }
static const Form kForms[] = {as_op, layer_norm_steps};

static Matrix row_of(int cols, double value) {
  Matrix m(Shape{1, cols});
  for (int j = 0; j < cols; ++j) m(0, j) = Real(value);
  return m;
}

static Outcome run(Form form, const Matrix& values, const Matrix& dy, double g = 1, double b = 0) {
  Tape tape;
  const Var x = tape.input(values, "x");
  const Var gain = tape.input(row_of(values.cols(), g), "gain"), bias = tape.input(row_of(values.cols(), b), "bias");
  const Var y = form(x, gain, bias, 1e-5);
  tape.backward(y, dy);
  return {Matrix(y.value()), Matrix(x.grad()), Matrix(gain.grad()), Matrix(bias.grad())};
}

static Matrix forward(Form form, const Matrix& x) { return run(form, x, Matrix(x.shape())).y; }

TEST_CASE("C01 a mean of 40001.5 does not swallow the variance") {
  for (Form form : kForms) {
    const Matrix want{{-1.34163542, -0.4472118067, 0.4472118067, 1.34163542}};
    CHECK(difference(forward(form, {{40000, 40001, 40002, 40003}}), want) == "");
  }
}

TEST_CASE("C03 a constant row gives zeros, and a finite gradient") {
  for (Form form : kForms) {
    for (int cols : {4, 256}) {
      CAPTURE(cols);
      Matrix dy(Shape{1, cols}), first(Shape{1, cols}), dx(Shape{1, cols});
      dy(0, 0) = first(0, 0) = 1;
      const double r = 1 / std::sqrt(1e-5);  // dx = r (dy - mean dy)
      for (int j = 0; j < cols; ++j) dx(0, j) = Real(r * ((j == 0) - 1.0 / cols));
      const Outcome o = run(form, row_of(cols, 1234), dy);
      CHECK(all_zero(o.y));
      CHECK(difference(o.dx, dx) == "");
      CHECK(all_zero(o.dgain));
      CHECK(bit_difference(o.dbias, first) == "");
    }
    const Outcome four = run(form, row_of(4, 1234), {{1, 0, 0, 0}});
    CHECK(difference(four.dx, Matrix{{237.1708245, -79.0569415, -79.0569415, -79.0569415}}) == "");
  }
}

TEST_CASE("C05 the variance divides by n, not by n - 1") {
  for (Form form : kForms) {
    const Matrix want{{1.732004621, -0.5773348738, -0.5773348738, -0.5773348738}};
    CHECK(difference(forward(form, {{1, 0, 0, 0}}), want) == "");
  }
}

TEST_CASE("C06 eps stands inside the root") {
  for (Form form : kForms) {
    CHECK(difference(forward(form, {{0, 0.0078125, -0.0078125, 0}}), Matrix{{0, 1.227349617, -1.227349617, 0}}) == "");
  }
}

TEST_CASE("C07 a mean of 2000 with a spread of 1") {
  for (Form form : kForms) {
    const Matrix y = forward(form, {{2000.125, 2000.4375, 1998.375, 2001.0625}});
    CHECK(difference(y, Matrix{{0.1253671976, 0.4387851917, -1.629773569, 1.06562118}}, {1e-9, 1e-5}) == "");
    double mean = 0, square = 0;
    for (int j = 0; j < 4; ++j) mean += double(y(0, j)) / 4, square += double(y(0, j)) * y(0, j) / 4;
    CHECK(std::fabs(mean) < 1e-5);
    CHECK(std::fabs(square - 0.9999899412) < 1e-5);
  }
}

TEST_CASE("C09 a nearly constant row far from 0, in float") {
  Matrix x = row_of(64, double(-15.94f));
  x(0, 63) = Real(-15.9f);
  for (Form form : kForms) {
    const Matrix y = forward(form, x);
    CHECK(std::fabs(double(y(0, 0)) + 0.1062387664) < 1e-3);
    CHECK(std::fabs(double(y(0, 63)) - 6.693042286) < 1e-3);
  }
}

TEST_CASE("C10 one column: the output is the bias, and nothing flows back to x") {
  for (Form form : kForms) {
    const Outcome o = run(form, {{5}, {-7}, {1e6}}, {{2}, {3}, {-1}}, 3, 0.5);
    CHECK(bit_difference(o.y, Matrix{{0.5}, {0.5}, {0.5}}) == "");
    CHECK(all_zero(o.dx));
    CHECK(all_zero(o.dgain));
    CHECK(bit_difference(o.dbias, Matrix{{4}}) == "");
  }
}

TEST_CASE("C11 no rows give no rows and zero gradients; rows of nothing are an error") {
  for (Form form : kForms) {
    const Outcome o = run(form, Matrix(Shape{0, 10}), Matrix(Shape{0, 10}));
    CHECK(o.y.shape() == Shape{0, 10});
    CHECK(o.dx.shape() == Shape{0, 10});
    CHECK(o.dgain.shape() == Shape{1, 10});
    CHECK(all_zero(o.dgain));
    CHECK(all_zero(o.dbias));
    CHECK_THROWS_AS(forward(form, Matrix(Shape{10, 0})), ShapeError);
  }
}

TEST_CASE("C13 squares that overflow a float, in an ordinary answer") {
  const Matrix want{{-1.341640786, -0.4472135955, 0.4472135955, 1.341640786}}, dy{{1, 0, -1, 2}};
  const Outcome o = run(as_op, {{1e20, 2e20, 3e20, 4e20}}, dy);
  CHECK(difference(o.y, want) == "");
  for (int j = 0; j < 4; ++j) CHECK(std::fabs(double(o.dx(0, j))) < 1e-19);  // 1 / σ is 9e-21
  if (kDouble) CHECK(difference(forward(layer_norm_steps, {{1e20, 2e20, 3e20, 4e20}}), want) == "");
}
