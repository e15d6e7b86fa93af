// Theme E: kinks, singular points, NaN through a selection. Each test is named after its case.
#include <cmath>
#include <limits>
#include <vector>

#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static const Real kInf = std::numeric_limits<Real>::infinity();
static const Real kNan = std::numeric_limits<Real>::quiet_NaN();

static Var number(Tape& tape, double x, const char* name) { return tape.input(Matrix{{x}}, name); }
static Var fixed(Tape& tape, double x) { return tape.constant(Matrix{{x}}, "fixed"); }
static Real value(Var x) { return x.value()(0, 0); }
static Real gradient(Var x) { return x.grad()(0, 0); }

namespace {
struct Point {
  Real y, slope;
};
}  // namespace

static Point at(Real x, Var (*function)(Var)) {
  Tape tape;
  tape.watch_nonfinite = false;
  const Var X = number(tape, x, "x");
  const Var Y = function(X);
  tape.backward(Y);
  return {value(Y), gradient(X)};
}

TEST_CASE("E01 every spelling of relu has the slope at 0 that its page states") {
  for (Real zero : {Real(0), -Real(0)}) {
    CAPTURE(std::signbit(zero));
    const Point op = at(zero, [](Var x) { return relu(x); });
    const Point zero_first = at(zero, [](Var x) { return maximum(fixed(*x.tape, 0), x); });
    const Point zero_last = at(zero, [](Var x) { return maximum(x, fixed(*x.tape, 0)); });
    const Point clamped = at(zero, [](Var x) { return clamp(x, 0, 1); });
    for (const Point& p : {op, zero_first, zero_last, clamped}) CHECK(p.y == 0);
    CHECK(op.slope == 0);
    CHECK(zero_first.slope == 0);
    CHECK(zero_last.slope == 1);  // a tie goes to the first operand
    CHECK(clamped.slope == 1);    // the bounds belong to the inside
  }
}

TEST_CASE("E01 beside the kink, every spelling of relu has the same slope") {
  for (Real x : {Real(-0.5), Real(0.5)}) {
    CAPTURE(x);
    for (const Point& p : {at(x, [](Var v) { return relu(v); }), at(x, [](Var v) { return maximum(fixed(*v.tape, 0), v); }),
                           at(x, [](Var v) { return maximum(v, fixed(*v.tape, 0)); }), at(x, [](Var v) { return clamp(v, 0, 1); })}) {
      CHECK(p.y == (x > 0 ? x : 0));
      CHECK(p.slope == (x > 0 ? 1 : 0));
    }
  }
}

TEST_CASE("E01 |x| and the length of a vector have slope 0 at their kink") {
  for (Real zero : {Real(0), -Real(0)}) {
    const Point a = at(zero, [](Var x) { return abs(x); }), n = at(zero, [](Var x) { return norm(x); });
    CHECK(a.y == 0);
    CHECK(a.slope == 0);
    CHECK(n.y == 0);
    CHECK(n.slope == 0);
  }
}

// The gradient of a maximum over all entries of a row, found in three ways.
static std::vector<Matrix> gradients_of_max(const Matrix& row) {
  std::vector<Matrix> all;
  for (Var (*op)(Var, Where) : {row_max, glass::max}) {
    Tape tape;
    const Var x = tape.input(row, "x");
    tape.backward(op(x, {}));
    all.emplace_back(x.grad());
  }
  Tape tape;
  const Var x = tape.input(row, "x");
  tape.backward(col_max(transpose(x)));
  all.emplace_back(x.grad());
  return all;
}

TEST_CASE("E03 of tied maxima the first gets the whole gradient, the others nothing") {
  for (const Matrix& dx : gradients_of_max({{1, 2, 2, 2}})) CHECK(difference(dx, Matrix{{0, 1, 0, 0}}, {0, 0}) == "");

  Tape tape;
  const Var a = number(tape, 2, "a"), b = number(tape, 2, "b");
  tape.backward(maximum(a, b));
  CHECK(gradient(a) == 1);
  CHECK(gradient(b) == 0);
}

TEST_CASE("E04 a near miss is no tie") {
  for (double near : {0.995, 1 - double(std::numeric_limits<Real>::epsilon())}) {
    CAPTURE(near);
    for (const Matrix& dx : gradients_of_max({{1, near}})) CHECK(difference(dx, Matrix{{1, 0}}, {0, 0}) == "");
    for (const Matrix& dx : gradients_of_max({{near, 1}})) CHECK(difference(dx, Matrix{{0, 1}}, {0, 0}) == "");

    Tape tape;
    const Var a = number(tape, near, "a"), b = number(tape, 1, "b");
    tape.backward(maximum(a, b));
    CHECK(gradient(a) == 0);
    CHECK(gradient(b) == 1);
  }
}

static Keep keep_of(std::vector<unsigned char>& entries) { return {entries.data(), 1, int(entries.size())}; }

TEST_CASE("E05 the root of 0 sends exactly nothing back where nothing arrives") {
  for (bool watch : {false, true}) {
    {
      Tape tape;
      tape.watch_nonfinite = watch;
      const Var x = number(tape, 0, "x");
      tape.backward(mul(fixed(tape, 0), sqrt(x)));
      CHECK(gradient(x) == 0);
    }
    Tape tape;
    tape.watch_nonfinite = watch;
    std::vector<unsigned char> yes{1};
    const Var x = number(tape, 0, "x");
    const Var y = select(keep_of(yes), fixed(tape, 1), sqrt(x));
    tape.backward(y);
    CHECK(value(y) == 1);
    CHECK(gradient(x) == 0);
  }
}

TEST_CASE("E05 the slope of the root at 0 is infinite, and the detector says so") {
  CHECK(at(0, [](Var x) { return sqrt(x); }).slope == kInf);
  Tape tape;
  tape.watch_nonfinite = true;
  CHECK_THROWS_AS(tape.backward(sqrt(number(tape, 0, "x"))), NonFiniteError);
}

TEST_CASE("E07 the side of a selection that overflows and is not taken does no harm") {
  for (double x : {100.0, 1000.0}) {  // the one overflows in float, the other in double too
    CAPTURE(x);
    Tape tape;
    tape.watch_nonfinite = true;
    std::vector<unsigned char> negative{x <= 0};
    const Var X = number(tape, x, "x");
    const Var y = select(keep_of(negative), exp(X), add_number(X, 1));
    tape.backward(y);
    CHECK(value(y) == Real(x + 1));
    CHECK(gradient(X) == 1);
  }
}

TEST_CASE("E09 neither an infinite input nor a division by 0 gets through the side that is not taken") {
  for (bool watch : {false, true}) {
    {
      Tape tape;
      tape.watch_nonfinite = watch;
      std::vector<unsigned char> below_1{1, 0};
      const Var x = tape.input(Matrix{{0, kInf}}, "x");
      const Var y = select(keep_of(below_1), cos(x), tape.constant(Matrix{{0, 0}}, "0"));
      tape.backward(y, Matrix{{1, 1}});
      CHECK(difference(y.value(), Matrix{{1, 0}}, {0, 0}) == "");
      CHECK(difference(x.grad(), Matrix{{0, 0}}, {0, 0}) == "");
    }
    Tape tape;
    tape.watch_nonfinite = watch;
    std::vector<unsigned char> not_negative{1};
    const Var x = number(tape, 1, "x"), zero = fixed(tape, 0);
    const Var y = select(keep_of(not_negative), x, mul(zero, div(x, zero)));
    tape.backward(y);
    CHECK(value(y) == 1);
    CHECK(gradient(x) == 1);
  }
}

namespace {
struct Power {
  Real y, by_base, by_exponent;
};
}  // namespace

static Power power(double base, double exponent) {
  Tape tape;
  const Var a = number(tape, base, "a"), b = number(tape, exponent, "b");
  const Var y = pow(a, b);
  tape.backward(y);
  return {value(y), gradient(a), gradient(b)};
}

TEST_CASE("E11 powers of 0") {
  CHECK(power(0, 0).y == 1);
  CHECK(power(0, 0).by_base == 0);
  CHECK(power(0, 1).y == 0);
  CHECK(power(0, 1).by_base == 1);
  CHECK(power(0, 1).by_exponent == 0);
  CHECK(power(0, 2).y == 0);
  CHECK(power(0, 2).by_base == 0);
  CHECK(power(0, 2).by_exponent == 0);
}

TEST_CASE("E13 NaN is passed on, not turned into 0: a run that has diverged shows it") {
  for (Real nan : {kNan, std::copysign(kNan, Real(-1))}) {
    CHECK(std::isnan(at(nan, [](Var x) { return relu(x); }).y));
    CHECK(std::isnan(at(nan, [](Var x) { return maximum(x, fixed(*x.tape, 0)); }).y));
    CHECK(std::isnan(at(nan, [](Var x) { return maximum(fixed(*x.tape, 0), x); }).y));
    CHECK(std::isnan(at(nan, [](Var x) { return clamp(x, -1, 1); }).y));
    for (int place = 0; place < 3; ++place) {
      CAPTURE(place);
      Matrix row{{1, 3, 2}};
      row(0, place) = nan;
      Tape tape;
      tape.watch_nonfinite = false;
      const Var x = tape.input(row, "x");
      CHECK(std::isnan(value(row_max(x))));
      CHECK(std::isnan(value(col_max(transpose(x)))));
      CHECK(std::isnan(value(glass::max(x))));
    }
  }
}

// The entropy of each row, -Σ p ln p, where 0 ln 0 = 0. The logarithm must not see the zeros: to leave out a product
// that is NaN already is too late on the way back, where the zero gradient of that product meets ln 0.
static Var entropy(Var p) {
  std::vector<unsigned char> some;
  for (int i = 0; i < p.shape().rows; ++i)
    for (int j = 0; j < p.shape().cols; ++j) some.push_back(p.value()(i, j) > 0);
  return neg(row_sum(mul(p, log(mask(p, {some.data(), p.shape().rows, p.shape().cols}, 1)))));
}

TEST_CASE("E15 the entropy of rows with zeros is a number, and its gradient too") {
  Tape tape;
  tape.watch_nonfinite = true;
  const Var p = tape.input(Matrix{{1, 0, 0, 0}, {0.25, 0.25, 0.25, 0.25}, {0.5, 0.5, 0, 0}}, "p");
  const Var H = entropy(p);
  tape.backward(H, Matrix{{1}, {1}, {1}});
  CHECK(value(H) == 0);
  CHECK(difference(H.value(), Matrix{{0}, {1.386294361}, {0.6931471806}}) == "");
  const double quarter = -1 - std::log(0.25), half = -1 - std::log(0.5);  // -(1 + ln p)
  CHECK(difference(p.grad(), Matrix{{-1, 0, 0, 0}, {quarter, quarter, quarter, quarter}, {half, half, 0, 0}}) == "");
}

TEST_CASE("E15 the entropy of attention weights, some of them hidden, differentiates down to the scores") {
  std::vector<unsigned char> seen{1, 1, 0, 0};
  Tape tape;
  tape.watch_nonfinite = true;
  const Var E = tape.input(Matrix{{2, 2, 5, kNan}}, "E");
  const Var H = entropy(softmax(mask(E, keep_of(seen), -kInf)));
  tape.backward(H);
  CHECK(difference(H.value(), Matrix{{0.6931471806}}) == "");
  CHECK(difference(E.grad(), Matrix{{0, 0, 0, 0}}, {0, 1e-7}) == "");  // equal weights: the largest entropy
}

TEST_CASE("E16 saturated functions neither overflow nor lose their slope") {
  const Point t = at(20, [](Var x) { return tanh(x); });
  CHECK(double(t.slope) == Approx(1.699341702e-17).epsilon(kPrinted.relative));  // 1 - tanh² would be 0
  const double s = double(at(-100, [](Var x) { return sigmoid(x); }).y);
  if (kDouble) CHECK(s == Approx(3.720075976e-44).epsilon(1e-9));
  CHECK((s >= 0 && s < 1e-38));
  CHECK(at(100, [](Var x) { return softplus(x); }).y == 100);
  CHECK(at(-1e4, [](Var x) { return sigmoid(x); }).y == 0);
  CHECK(at(1e4, [](Var x) { return tanh(x); }).y == 1);
}

TEST_CASE("E16 far out, every bent function is flat or the identity, and its slope 0 or 1") {
  for (Real x : {Real(1e4), Real(1e30)}) {
    CAPTURE(x);
    const Real one = 1, zero = 0;
    const struct {
      Var (*function)(Var);
      Real low, high, slope_low, slope_high;
    } functions[] = {{[](Var v) { return sigmoid(v); }, zero, one, zero, zero},
                     {[](Var v) { return tanh(v); }, -one, one, zero, zero},
                     {[](Var v) { return softplus(v); }, zero, x, zero, one},
                     {[](Var v) { return relu(v); }, zero, x, zero, one},
                     {[](Var v) { return gelu(v); }, zero, x, zero, one},
                     {[](Var v) { return gelu_tanh(v); }, zero, x, zero, one},
                     {[](Var v) { return silu(v); }, zero, x, zero, one}};
    for (const auto& f : functions) {
      CAPTURE(&f - functions);
      const Point low = at(-x, f.function), high = at(x, f.function);
      CHECK(low.y == f.low);
      CHECK(low.slope == f.slope_low);
      CHECK(high.y == f.high);
      CHECK(high.slope == f.slope_high);
    }
  }
}
