#include "layers/losses.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

namespace {
using Form = Var (*)(Var logits, const std::vector<int>& targets);
struct Outcome {
  double loss;
  Matrix dlogits;
};
}  // namespace

static Var as_op(Var logits, const std::vector<int>& targets) {
  return cross_entropy(logits, targets.data(), int(targets.size()));
}
static const Form kForms[] = {as_op, cross_entropy_steps};

static Outcome run(Form form, const Matrix& values, const std::vector<int>& targets) {
  Tape tape;
  const Var logits = tape.input(values, "logits");
  const Var loss = form(logits, targets);
  tape.backward(loss);
  return {double(loss.value()(0, 0)), Matrix(logits.grad())};
}

TEST_CASE("losses: one-hot rows, and an id that is no class") {
  CHECK(bit_difference(onehot({2, 0, 2}, 3), Matrix{{0, 0, 1}, {1, 0, 0}, {0, 0, 1}}) == "");
  CHECK(onehot({}, 3).shape() == Shape{0, 3});
  CHECK_THROWS_AS(onehot({0, 3}, 3), ShapeError);
  CHECK_THROWS_WITH(onehot({-1}, 3), ContainsSubstring("-1, number 0 of 1"));
  CHECK_THROWS_WITH(onehot({0, 3}, 3), ContainsSubstring("3, number 1 of 2") && ContainsSubstring("3 classes"));
}

TEST_CASE("losses: cross-entropy in steps and the op agree, forward and backward") {
  Rng rng(1);
  for (Shape s : {Shape{1, 1}, Shape{1, 4}, Shape{3, 1}, Shape{5, 7}}) {
    CAPTURE(s.rows, s.cols);
    Matrix logits = random_matrix(s, rng);
    for (int i = 0; i < s.rows; ++i) logits(i, 0) *= 20;
    std::vector<int> targets;
    for (int i = 0; i < s.rows; ++i) targets.push_back(int(rng.bits() % unsigned(s.cols)));
    const Outcome steps = run(cross_entropy_steps, logits, targets), op = run(as_op, logits, targets);
    CHECK(steps.loss == Approx(op.loss).epsilon(kRounding.relative).margin(kRounding.absolute));
    CHECK(difference(steps.dlogits, op.dlogits, kRounding) == "");
  }
}

TEST_CASE("losses: each form agrees with differences") {
  Rng rng(2);
  const Matrix dloss{{-1.75}};
  for (Form form : kForms) {
    Tape tape;
    const Var logits = tape.input(random_matrix({4, 5}, rng), "logits");
    const Var loss = form(logits, {4, 0, 2, 2});
    tape.backward(loss, dloss);
    CHECK(gradient_gap(tape, loss, dloss, logits).ok());
  }
}

TEST_CASE("losses: PyTorch's cross-entropy, also where the softmax vanishes") {
  const ReferenceFile file("layers.txt");
  for (Form form : kForms) {
    const Outcome o = run(form, file["cross_entropy.logits"], {2, 0, 4, 1});
    CHECK(o.loss == Approx(double(file["cross_entropy.loss"](0, 0))).epsilon(kDouble ? 1e-12 : 1e-6));
    // exp(-1000) is 0 here and in PyTorch; exp(-1) from logits of 1000 is rounded in float
    CHECK(difference(o.dlogits, file["cross_entropy.dlogits"], kDouble ? kRounding : Tolerance{1e-5, 1e-5}) == "");
  }
}

TEST_CASE("losses: cross-entropy, a worked example to ten digits, with and without smoothing") {
  const Matrix logits = sines({3, 5}, 1, 3, 1);
  const std::vector<int> targets{2, 0, 4};
  const Matrix row{{0.0449049805, 0.1041695331, -0.2218532289, 0.0517109067, 0.0210678086}};
  for (Form form : kForms) {
    const Outcome o = run(form, logits, targets);
    CHECK(o.loss == Approx(1.68456950116).epsilon(kDouble ? 1e-11 : 1e-6));
    CHECK(difference(o.dlogits.view().block(0, 0, 1, 5), row) == "");
  }
  CrossEntropy smoothed;
  smoothed.smoothing = 0.1;
  Tape tape;
  const Var z = tape.input(logits, "logits");
  const Var loss = cross_entropy(z, targets.data(), 3, smoothed);
  tape.backward(loss);
  CHECK(double(loss.value()(0, 0)) == Approx(1.6936288654).epsilon(kDouble ? 1e-10 : 1e-6));
  const Matrix smoothed_row{{0.0382383138, 0.0975028664, -0.1951865622, 0.0450442400, 0.0144011419}};
  CHECK(difference(z.grad().block(0, 0, 1, 5), smoothed_row) == "");
  CHECK(difference(log_sum_exp(z).value(), Matrix{{2.0045942776}, {1.5452680592}, {2.0102424907}}) == "");
}

TEST_CASE("losses: equal logits give ln K, and each row of the gradient adds up to 0") {
  for (Form form : kForms) {
    CHECK(run(form, Matrix(Shape{3, 7}), {0, 6, 3}).loss == Approx(std::log(7.0)).epsilon(kDouble ? 1e-14 : 1e-6));
    const Outcome o = run(form, sines({4, 5}, 3, 1, 2), {1, 1, 0, 4});
    for (int i = 0; i < 4; ++i) {
      double sum = 0;
      for (int j = 0; j < 5; ++j) sum += double(o.dlogits(i, j));
      CHECK(std::fabs(sum) < kRounding.absolute);
    }
  }
}

TEST_CASE("losses: the steps are lines of the tape that can be looked at") {
  Tape tape;
  const double ln2 = std::log(2.0);
  cross_entropy_steps(tape.input(Matrix{{0, 0}, {ln2, 0}}, "logits"), {1, 0});  // chances 1/2 1/2 and 2/3 1/3
  const double half = -ln2, two_thirds = std::log(2.0 / 3), third = -std::log(3.0);
  CHECK(difference(tape.find("L").value(), Matrix{{half, half}, {two_thirds, third}}) == "");
  CHECK(bit_difference(tape.find("T").value(), Matrix{{0, 1}, {1, 0}}) == "");
  CHECK(difference(tape.find("t").value(), Matrix{{half}, {two_thirds}}) == "");
  CHECK(difference(tape.find("loss").value(), Matrix{{(std::log(2.0) + std::log(1.5)) / 2}}) == "");
}

TEST_CASE("losses: targets that do not fit are errors") {
  Tape tape;
  const Var logits = tape.input(Matrix(Shape{2, 3}), "logits");
  CHECK_THROWS_AS(cross_entropy_steps(logits, {0}), ShapeError);
  CHECK_THROWS_AS(cross_entropy_steps(logits, {0, 3}), ShapeError);
  CHECK_THROWS_AS(cross_entropy_steps(logits, {0, -100}), ShapeError);  // nothing is ignored here
}
