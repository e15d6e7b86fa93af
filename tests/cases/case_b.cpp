// Theme B: losses. Each test is named after its case.
#include <cmath>
#include <limits>

#include "engine/ops.h"
#include "layers/losses.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static const Real kInf = std::numeric_limits<Real>::infinity();
static const Real kNan = std::numeric_limits<Real>::quiet_NaN();

// For numbers so small that they must not drown in an absolute tolerance; below 1e-38, float may give 0.
static const Tolerance kTiny = kDouble ? Tolerance{1e-9, 0} : Tolerance{1e-5, 1e-38};

namespace {
struct Loss {
  Matrix y, dx;
};
}  // namespace

static Loss cross_entropy_of(const Matrix& logits, const std::vector<int>& targets, CrossEntropy options = {}) {
  Tape tape;
  const Var x = tape.input(logits, "logits");
  const Var y = cross_entropy(x, targets.data(), int(targets.size()), options);
  tape.backward(y);
  return {Matrix(y.value()), Matrix(x.grad())};
}

static Loss cross_entropy_in_steps(const Matrix& logits, const std::vector<int>& targets) {
  Tape tape;
  const Var x = tape.input(logits, "logits");
  const Var y = cross_entropy_steps(x, targets);
  tape.backward(y);
  return {Matrix(y.value()), Matrix(x.grad())};
}

TEST_CASE("B01 the cross-entropy of huge equal logits is ln 2, not 0") {
  for (double huge : {1e8, -1e8, 1e16, 1e30}) {  // from 1e16 on, a logarithm that is added to the logit is lost
    CAPTURE(huge);
    for (const Loss& loss : {cross_entropy_of({{huge, huge}}, {1}), cross_entropy_in_steps({{huge, huge}}, {1})}) {
      CHECK(difference(loss.y, Matrix{{0.6931471806}}) == "");
      CHECK(difference(loss.dx, Matrix{{0.5, -0.5}}) == "");
    }
  }
}

TEST_CASE("B03 if every target is ignored, the loss is 0 and no gradient is sent back") {
  const int ignored = CrossEntropy{}.ignore;
  for (double smoothing : {0.0, 0.2}) {
    CAPTURE(smoothing);
    const Loss loss = cross_entropy_of({{1, 2, 3}, {-4, 0, 5}}, {ignored, ignored}, {ignored, smoothing});
    CHECK(difference(loss.y, Matrix{{0}}, {0, 0}) == "");
    CHECK(difference(loss.dx, Matrix(Shape{2, 3}), {0, 0}) == "");
  }
}

TEST_CASE("B03 whatever an ignored row holds stays out of the loss and of the gradient") {
  const int ignored = -1;
  const Loss without = cross_entropy_of({{1, 2, 0.5}}, {2});
  for (Real content : {Real(7), kInf, kNan}) {
    CAPTURE(content);
    const Loss loss = cross_entropy_of({{content, content, 0}, {1, 2, 0.5}}, {ignored, 2}, {ignored, 0});
    CHECK(bit_difference(loss.y, without.y) == "");
    CHECK(all_zero(loss.dx.view().block(0, 0, 1, 3)));
    CHECK(bit_difference(loss.dx.view().block(1, 0, 1, 3), without.dx) == "");
  }
}

TEST_CASE("B05 label smoothing is averaged over the rows that count, in its uniform part too") {
  const int ignored = -100;
  const Loss loss = cross_entropy_of({{1, 2, 0.5, -1}, {3, -2, 1, 0}, {0, 0.25, -0.5, 2}}, {1, ignored, 3}, {ignored, 0.2});
  CHECK(difference(loss.y, Matrix{{0.7064222156}}) == "");
  CHECK(difference(loss.dx, Matrix{{0.08710390902, -0.1202699812, 0.0429944579, -0.00982838572},
                                   {0, 0, 0, 0},
                                   {0.02363996729, 0.03745495427, 0.004501631451, -0.06559655302}}) == "");
  CHECK(all_zero(loss.dx.view().block(1, 0, 1, 4)));
}

TEST_CASE("B07 where the target of a divergence is 0, nothing counts: neither 0 ln 0 nor ln 0") {
  for (Real log_q0 : {-kInf, Real(-3)}) {
    for (bool watch : {false, true}) {
      CAPTURE(log_q0, watch);
      Tape tape;
      tape.watch_nonfinite = watch;
      const Var p = tape.constant(Matrix{{0, 0.5, 0.5}}, "p");
      const Var log_q = tape.input(Matrix{{log_q0, std::log(0.25), std::log(0.75)}}, "log q");
      const Var y = kl(p, log_q);
      tape.backward(y);
      CHECK(difference(y.value(), Matrix{{0.1438410362}}) == "");
      CHECK(difference(log_q.grad(), Matrix{{0, -0.5, -0.5}}, {0, 0}) == "");
    }
  }
}

TEST_CASE("B07 a class that is possible and is called impossible costs infinitely much, never NaN") {
  Tape tape;
  tape.watch_nonfinite = false;
  const Var p = tape.constant(Matrix{{0.5, 0.5}}, "p");
  CHECK(kl(p, tape.input(Matrix{{-kInf, 0}}, "log q")).value()(0, 0) == kInf);
}

static Loss binary_loss(const Matrix& logits, const Matrix& targets, bool watch = true) {
  Tape tape;
  tape.watch_nonfinite = watch;
  const Var x = tape.input(logits, "logits");
  const Var y = bce_logits(x, tape.constant(targets, "targets"));
  Matrix ones(logits.shape());
  cpu_backend().fill(ones, 1);
  tape.backward(y, ones);
  return {Matrix(y.value()), Matrix(x.grad())};
}

TEST_CASE("B09 the binary loss is right at both ends and in the middle, and so is its gradient") {
  const Loss loss = binary_loss({{-100, 100, 0, 100, -2, 2}}, {{0, 1, 0, 0, 1, 0.25}});
  CHECK(difference(loss.y, Matrix{{3.720075976e-44, 3.720075976e-44, 0.6931471806, 100, 2.126928011, 1.626928011}}, kTiny) == "");
  CHECK(difference(loss.dx, Matrix{{3.720075976e-44, -3.720075976e-44, 0.5, 1, -0.880797078, 0.630797078}}, kTiny) == "");
}

TEST_CASE("B10 an infinite logit costs 0 on the right side and infinity on the wrong one, never NaN") {
  const Loss right = binary_loss({{-kInf, kInf}}, {{0, 1}});
  CHECK(difference(right.y, Matrix{{0, 0}}, {0, 0}) == "");
  CHECK(difference(right.dx, Matrix{{0, 0}}, {0, 0}) == "");

  const Loss wrong = binary_loss({{-kInf}}, {{0.9}}, false);
  CHECK(wrong.y(0, 0) == kInf);
  CHECK(difference(wrong.dx, Matrix{{-0.9}}) == "");
  CHECK_THROWS_AS(binary_loss({{-kInf}}, {{0.9}}), NonFiniteError);
}

TEST_CASE("B11 the squared error of a column and a row is an error that names both shapes") {
  Tape tape;
  const Var column = tape.input(Matrix{{1}, {2}, {3}}, "column"), row = tape.input(Matrix{{1, 2, 4}}, "row");
  const std::size_t before = tape.nodes.size();
  CHECK_THROWS_AS(mse(column, row), ShapeError);
  CHECK_THROWS_WITH(mse(column, row), ContainsSubstring("3 x 1") && ContainsSubstring("1 x 3"));
  CHECK(tape.nodes.size() == before);

  const Var y = mse(tape.input(Matrix{{1, 2, 3}}, "a"), row);
  tape.backward(y);
  CHECK(difference(y.value(), Matrix{{0.3333333333}}) == "");
  CHECK(difference(row.grad(), Matrix{{0, 0, 0.6666666667}}) == "");
}

TEST_CASE("B13 cross-entropy does not divide by a softmax that has underflowed to 0") {
  for (const Loss& loss : {cross_entropy_of({{-431, 279, 427}}, {0}), cross_entropy_in_steps({{-431, 279, 427}}, {0})}) {
    CHECK(difference(loss.y, Matrix{{858}}, {0, 0}) == "");
    CHECK(difference(loss.dx, Matrix{{-1, 5.301718666e-65, 1}}, kTiny) == "");
  }
}
