#include "layers/layer_norm.h"

#include <cmath>
#include <limits>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

namespace {
using Form = Var (*)(Var x, Var gain, Var bias, double eps);
struct Outcome {
  Matrix y, dx, dgain, dbias;
};
}  // namespace

static Var as_op(Var x, Var gain, Var bias, double eps) { return layer_norm(x, gain, bias, eps); }
static const Form kForms[] = {as_op, layer_norm_steps};

static Outcome run(Form form, const Matrix& values, const Matrix& g, const Matrix& b, const Matrix& dy,
                   double eps = 1e-5) {
  Tape tape;
  const Var x = tape.input(values, "x"), gain = tape.input(g, "gain"), bias = tape.input(b, "bias");
  const Var y = form(x, gain, bias, eps);
  tape.backward(y, dy);
  return {Matrix(y.value()), Matrix(x.grad()), Matrix(gain.grad()), Matrix(bias.grad())};
}

static Matrix ones(int cols) {
  Matrix m(Shape{1, cols});
  for (int j = 0; j < cols; ++j) m(0, j) = 1;
  return m;
}

TEST_CASE("layer norm: the layer makes gain and bias, starts them at one and zero, and calls the op") {
  Rng rng(1);
  ParamStore store;
  const LayerNorm layer(store, "_1", 4, rng);
  CHECK(store.all.size() == 2);
  CHECK(store.find("gain_1") == layer.gain);
  CHECK(store.find("bias_1") == layer.bias);
  CHECK(bit_difference(layer.gain->value, ones(4)) == "");
  CHECK(bit_difference(layer.bias->value, Matrix(Shape{1, 4})) == "");
  CHECK(layer.eps == 1e-5);
  CHECK_THROWS_AS(LayerNorm(store, "_1", 4, rng), InputError);

  layer.gain->set(random_matrix({1, 4}, rng));
  layer.bias->set(random_matrix({1, 4}, rng));
  const Matrix x = random_matrix({3, 4}, rng), dy = random_matrix({3, 4}, rng);
  const Outcome op = run(as_op, x, layer.gain->value, layer.bias->value, dy);
  Tape tape;
  const Var X = tape.input(x, "x");
  const Var y = layer(X);
  tape.backward(y, dy);
  CHECK(bit_difference(y.value(), op.y) == "");
  CHECK(bit_difference(X.grad(), op.dx) == "");
  CHECK(bit_difference(layer.gain->grad, op.dgain) == "");
  CHECK(bit_difference(layer.bias->grad, op.dbias) == "");
}

TEST_CASE("layer norm: the eps of the layer is the one that counts") {
  Rng rng(1);
  ParamStore store;
  const LayerNorm layer(store, "", 4, rng, 1e-12);  // as BERT has it
  const Matrix x{{0, 0.0078125, -0.0078125, 0}};
  Tape tape;
  const double root2 = std::sqrt(2.0);  // the whole deviation is left: eps is far below the variance of 3e-5
  CHECK(difference(layer(tape.input(x, "x")).value(), Matrix{{0, root2, -root2, 0}}, {1e-6, 1e-6}) == "");
}

TEST_CASE("layer norm: the steps and the op agree, forward and backward") {
  Rng rng(2);
  for (Shape s : {Shape{1, 1}, Shape{3, 1}, Shape{1, 4}, Shape{5, 7}, Shape{2, 33}}) {
    CAPTURE(s.rows, s.cols);
    const Matrix x = random_matrix(s, rng), dy = random_matrix(s, rng);
    const Matrix gain = random_matrix({1, s.cols}, rng), bias = random_matrix({1, s.cols}, rng);
    const Outcome steps = run(layer_norm_steps, x, gain, bias, dy), op = run(as_op, x, gain, bias, dy);
    // one column: 1 / σ is 316, and rounding is larger by as much
    const Tolerance tolerance = kDouble ? Tolerance{1e-11, 1e-11} : Tolerance{1e-5, 1e-5};
    CHECK(difference(steps.y, op.y, tolerance) == "");
    CHECK(difference(steps.dx, op.dx, tolerance) == "");
    CHECK(difference(steps.dgain, op.dgain, tolerance) == "");
    CHECK(difference(steps.dbias, op.dbias, tolerance) == "");
  }
}

TEST_CASE("layer norm: each form agrees with differences") {
  Rng rng(3);
  const Matrix dy = random_matrix({4, 5}, rng);
  for (Form form : kForms) {
    Tape tape;
    const Var x = tape.input(random_matrix({4, 5}, rng), "x");
    const Var gain = tape.input(random_matrix({1, 5}, rng), "gain");
    const Var bias = tape.input(random_matrix({1, 5}, rng), "bias");
    const Var y = form(x, gain, bias, 1e-5);
    tape.backward(y, dy);
    for (Var input : {x, gain, bias}) CHECK(gradient_gap(tape, y, dy, input).ok());
  }
}

TEST_CASE("layer norm: PyTorch's values and gradients, also for a large mean and for a constant row") {
  const ReferenceFile file("layers.txt");
  for (Form form : kForms) {
    const Outcome o = run(form, file["norm.x"], file["norm.gain"], file["norm.bias"], file["norm.dy"]);
    // the steps keep a mean of 4096.55 in a float, so they lose 2e-4 there
    const bool rounded = !kDouble && form == layer_norm_steps;
    const Tolerance tolerance = rounded ? Tolerance{1e-3, 1e-3} : kPrinted;
    CHECK(difference(o.y, file["layer_norm.y"], tolerance) == "");
    CHECK(difference(o.dx, file["layer_norm.dx"], tolerance) == "");
    CHECK(difference(o.dgain, file["layer_norm.dgain"], tolerance) == "");
    CHECK(difference(o.dbias, file["layer_norm.dbias"], tolerance) == "");
  }
}

static const Matrix kGain{{1, 0.5, 1.5, 2}}, kBias{{0.1, -0.2, 0.3, 0}};

TEST_CASE("layer norm: a worked example to ten digits") {
  const Matrix x = sines({3, 4}, 1, 3, 1), dy = cosines({3, 4}, 1, 2, 3, 1);
  for (Form form : kForms) {
    const Outcome o = run(form, x, kGain, kBias, dy);
    CHECK(difference(o.y, Matrix{{-1.0643418692, 0.2535771456, 1.9111896523, -1.6338777138},
                                 {1.5143878159, -0.5430516530, -1.4383837647, 0.8612760000},
                                 {-1.4553374425, 0.0279005836, 2.0544684480, -0.1402187134}}) == "");
    CHECK(difference(o.dx, Matrix{{2.7250891536, -1.5259165313, 1.8919357738, -3.0911083961},
                                  {-2.6860329862, 1.4666724317, -2.6927899242, 3.9121504788},
                                  {-0.0600798011, -0.3010129137, 0.0556767491, 0.3054159658}}) == "");
    CHECK(difference(o.dgain, Matrix{{-2.4705203398, -1.3180507088, 1.8708922089, 1.0392791585}}) == "");
    CHECK(difference(o.dbias, Matrix{{-0.1660280053, 0.1610266320, -0.1528023096, 0.1415196479}}) == "");
  }
}

TEST_CASE("layer norm: the gradient of a row has no part along ones, and along xhat only what eps leaves") {
  // dx · x̂ = (u · x̂) r (1 - mean x̂²) = (u · x̂) eps r³: a row may be shifted and scaled without any change
  const Matrix x = sines({3, 4}, 1, 3, 1), dy = cosines({3, 4}, 1, 2, 3, 1);
  for (Form form : kForms) {
    for (double eps : {1e-5, 0.25}) {
      const Outcome o = run(form, x, kGain, kBias, dy, eps);
      const Matrix xhat = run(form, x, ones(4), Matrix(Shape{1, 4}), dy, eps).y;
      double along_ones = 0, along_xhat = 0;
      for (int i = 0; i < 3; ++i) {
        double sum = 0, dot = 0, u_dot = 0, mean = 0, variance = 0;
        for (int j = 0; j < 4; ++j) mean += double(x(i, j)) / 4;
        for (int j = 0; j < 4; ++j) {
          variance += (x(i, j) - mean) * (x(i, j) - mean) / 4;
          sum += double(o.dx(i, j));
          dot += double(o.dx(i, j)) * xhat(i, j);
          u_dot += double(dy(i, j)) * kGain(0, j) * xhat(i, j);
        }
        CHECK(std::fabs(sum) < (kDouble ? 1e-13 : 5e-6));
        CHECK(std::fabs(dot - u_dot * eps * std::pow(variance + eps, -1.5)) < (kDouble ? 1e-13 : 5e-6));
        along_ones = std::fmax(along_ones, std::fabs(sum));
        along_xhat = std::fmax(along_xhat, std::fabs(dot));
      }
      CHECK(along_ones < along_xhat);
      if (eps == 1e-5) CHECK(std::fabs(along_xhat - 0.000247659459897) < (kDouble ? 1e-12 : 5e-6));
    }
  }
}

TEST_CASE("layer norm: a row may be shifted and scaled; the gradient shrinks by the scale") {
  const Matrix x{{0.5, -1.25, 2, 0.125}, {3, 0.75, -0.5, 1}};
  Matrix moved = x;
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) moved(i, j) = 8 * x(i, j) - 64;  // exact in float
  const Matrix dy = cosines({2, 4}, 1, 2, 3, 1);
  for (Form form : kForms) {
    const Outcome before = run(form, x, kGain, kBias, dy, 0), after = run(form, moved, kGain, kBias, dy, 0);
    Matrix eight_times = after.dx;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j) eight_times(i, j) *= 8;
    CHECK(difference(after.y, before.y, kRounding) == "");
    CHECK(difference(eight_times, before.dx, kRounding) == "");
  }
}

TEST_CASE("layer norm: the steps are lines of the tape that can be looked at") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 3, 5, 7}}, "x");  // mean 4, variance 5
  layer_norm_steps(x, tape.input(Matrix{{1, 1, 1, 2}}, "gain"), tape.input(Matrix{{0, 0, 0, 1}}, "bias"), 4);
  CHECK(difference(tape.find("mean").value(), Matrix{{4}}) == "");
  CHECK(difference(tape.find("centred").value(), Matrix{{-3, -1, 1, 3}}) == "");
  CHECK(difference(tape.find("variance").value(), Matrix{{5}}) == "");
  CHECK(difference(tape.find("sigma").value(), Matrix{{3}}) == "");
  CHECK(difference(tape.find("xhat").value(), Matrix{{-1, -1.0 / 3, 1.0 / 3, 1}}) == "");
  CHECK(difference(tape.find("y").value(), Matrix{{-1, -1.0 / 3, 1.0 / 3, 3}}) == "");
}

TEST_CASE("layer norm: a gain of another width, rows of nothing and a bad eps are errors that say so") {
  Rng rng(4);
  ParamStore store;
  const LayerNorm layer(store, "", 4, rng);
  Tape tape;
  const Var x = tape.input(Matrix(Shape{2, 5}), "x");
  CHECK_THROWS_AS(layer(x), ShapeError);
  CHECK_THROWS_WITH(layer(x), ContainsSubstring("2 x 5") && ContainsSubstring("1 x 4"));
  const Var row = tape.input(Matrix(Shape{1, 5}), "row");
  CHECK_THROWS_WITH(layer_norm(x, row, row, -1), ContainsSubstring("eps") && ContainsSubstring("-1"));
  CHECK_THROWS_AS(layer_norm(x, row, row, std::numeric_limits<double>::quiet_NaN()), InputError);
}
