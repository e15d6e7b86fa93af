#include "layers/rms_norm.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

namespace {
using Form = Var (*)(Var x, Var gain, double eps);
struct Outcome {
  Matrix y, dx, dgain;
};
}  // namespace

static Var as_op(Var x, Var gain, double eps) { return rms_norm(x, gain, eps); }
static const Form kForms[] = {as_op, rms_norm_steps};

static Outcome run(Form form, const Matrix& values, const Matrix& g, const Matrix& dy, double eps) {
  Tape tape;
  const Var x = tape.input(values, "x"), gain = tape.input(g, "gain");
  const Var y = form(x, gain, eps);
  tape.backward(y, dy);
  return {Matrix(y.value()), Matrix(x.grad()), Matrix(gain.grad())};
}

TEST_CASE("rms norm: the layer makes a gain, starts it at one, and calls the op with its eps") {
  Rng rng(1);
  ParamStore store;
  const RmsNorm layer(store, "_1", 4, rng, 0.5);
  CHECK(store.all.size() == 1);
  CHECK(store.find("gain_1") == layer.gain);
  CHECK(bit_difference(layer.gain->value, Matrix{{1, 1, 1, 1}}) == "");

  layer.gain->set(random_matrix({1, 4}, rng));
  const Matrix x = random_matrix({3, 4}, rng), dy = random_matrix({3, 4}, rng);
  const Outcome op = run(as_op, x, layer.gain->value, dy, 0.5);
  Tape tape;
  const Var X = tape.input(x, "x");
  const Var y = layer(X);
  tape.backward(y, dy);
  CHECK(bit_difference(y.value(), op.y) == "");
  CHECK(bit_difference(X.grad(), op.dx) == "");
  CHECK(bit_difference(layer.gain->grad, op.dgain) == "");
}

TEST_CASE("rms norm: the steps and the op agree, forward and backward") {
  Rng rng(2);
  for (Shape s : {Shape{1, 1}, Shape{3, 1}, Shape{1, 4}, Shape{5, 7}, Shape{2, 33}}) {
    CAPTURE(s.rows, s.cols);
    const Matrix x = random_matrix(s, rng), dy = random_matrix(s, rng), gain = random_matrix({1, s.cols}, rng);
    const Outcome steps = run(rms_norm_steps, x, gain, dy, 1e-5), op = run(as_op, x, gain, dy, 1e-5);
    CHECK(difference(steps.y, op.y, kRounding) == "");
    CHECK(difference(steps.dx, op.dx, kRounding) == "");
    CHECK(difference(steps.dgain, op.dgain, kRounding) == "");
  }
}

TEST_CASE("rms norm: each form agrees with differences") {
  Rng rng(3);
  const Matrix dy = random_matrix({4, 5}, rng);
  for (Form form : kForms) {
    Tape tape;
    const Var x = tape.input(random_matrix({4, 5}, rng), "x"), gain = tape.input(random_matrix({1, 5}, rng), "gain");
    const Var y = form(x, gain, 1e-5);
    tape.backward(y, dy);
    for (Var input : {x, gain}) CHECK(gradient_gap(tape, y, dy, input).ok());
  }
}

TEST_CASE("rms norm: PyTorch's values and gradients") {
  const ReferenceFile file("layers.txt");
  for (Form form : kForms) {
    const Outcome o = run(form, file["norm.x"], file["norm.gain"], file["norm.dy"], 1e-5);
    CHECK(difference(o.y, file["rms_norm.y"]) == "");
    CHECK(difference(o.dx, file["rms_norm.dx"]) == "");
    CHECK(difference(o.dgain, file["rms_norm.dgain"]) == "");
  }
}

static const Matrix kGain{{1, 0.5, 1.5, 2}};

TEST_CASE("rms norm: a worked example to ten digits") {
  const Matrix x = sines({3, 4}, 1, 3, 1), dy = cosines({3, 4}, 1, 2, 3, 1);
  for (Form form : kForms) {
    const Outcome o = run(form, x, kGain, dy, 1e-6);
    CHECK(difference(o.y, Matrix{{0, 0.6748385945, 2.1877010923, 0.4526988078},
                                 {0.2238113513, -0.6001310214, -2.2812300750, -0.8862862338},
                                 {-0.4339487959, 0.5101695240, 2.3047978151, 1.2800887681}}) == "");
    CHECK(difference(o.dx, Matrix{{0.8666177570, -0.9725183529, 1.3293833680, -2.7668420225},
                                  {-1.6173735969, 1.0149550326, -1.8462554047, 2.7702597506},
                                  {0.4385074086, -0.1081961059, 0.0175217868, 0.4277260315}}) == "");
    CHECK(difference(o.dgain, Matrix{{-0.3446664223, -2.1831232005, 2.4920072534, -0.4763535253}}) == "");
  }
}

TEST_CASE("rms norm: a row may be scaled but not shifted, and without eps the gradient is orthogonal to it") {
  const Matrix x{{0.5, -1.25, 2, 0.125}, {3, 0.75, -0.5, 1}}, dy = cosines({2, 4}, 1, 2, 3, 1);
  Matrix scaled = x, shifted = x;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) scaled(i, j) *= 8, shifted(i, j) += 8;
  for (Form form : kForms) {
    const Outcome before = run(form, x, kGain, dy, 0), after = run(form, scaled, kGain, dy, 0);
    Matrix eight_times = after.dx;
    for (int i = 0; i < 2; ++i) {
      double along_x = 0, size = 0;
      for (int j = 0; j < 4; ++j) {
        eight_times(i, j) *= 8;
        along_x += double(before.dx(i, j)) * x(i, j);
        size += std::fabs(double(before.dx(i, j)) * x(i, j));
      }
      CHECK(std::fabs(along_x) < (kDouble ? 1e-14 : 1e-6));
      CHECK(size > 0.1);
    }
    CHECK(difference(after.y, before.y, kRounding) == "");
    CHECK(difference(eight_times, before.dx, kRounding) == "");
    CHECK(difference(run(form, shifted, kGain, dy, 0).y, before.y, {0.1, 0.1}) != "");
  }
}

TEST_CASE("rms norm: a row of zeros gives zeros, and a gradient of 1 / √eps") {
  for (Form form : kForms) {
    const Outcome o = run(form, Matrix(Shape{1, 3}), {{1, 2, 3}}, {{1, -1, 2}}, 0.25);
    CHECK(all_zero(o.y));
    CHECK(difference(o.dx, Matrix{{2, -4, 12}}) == "");
    CHECK(all_zero(o.dgain));
  }
}

TEST_CASE("rms norm: the steps are lines of the tape that can be looked at") {
  Tape tape;
  rms_norm_steps(tape.input(Matrix{{1, 3, 5, 7}}, "x"), tape.input(Matrix{{1, 1, 2, 1}}, "gain"), 4);  // 84 / 4 = 21
  CHECK(difference(tape.find("mean square").value(), Matrix{{21}}) == "");
  CHECK(difference(tape.find("rms").value(), Matrix{{5}}) == "");
  CHECK(difference(tape.find("xhat").value(), Matrix{{0.2, 0.6, 1, 1.4}}) == "");
  CHECK(difference(tape.find("y").value(), Matrix{{0.2, 0.6, 2, 1.4}}) == "");
}

TEST_CASE("rms norm: a gain of another width is an error that says both sizes") {
  Rng rng(4);
  ParamStore store;
  const RmsNorm layer(store, "", 4, rng);
  Tape tape;
  const Var x = tape.input(Matrix(Shape{2, 5}), "x");
  CHECK_THROWS_AS(layer(x), ShapeError);
  CHECK_THROWS_WITH(layer(x), ContainsSubstring("2 x 5") && ContainsSubstring("1 x 4"));
}
