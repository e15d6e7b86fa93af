// tutorials/07_layer_norm.cpp: every row is shifted to mean 0 and scaled to variance 1. What that does to its gradient.
// Read first: 04_linear.   Next: 08_feed_forward.   The layers: layers/layer_norm.h, layers/rms_norm.h
#include "layers/layer_norm.h"

#include <cmath>

#include "layers/rms_norm.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// The first entry of the normalised row x, the usual way and the two ways of getting it wrong.
static double normalised(Mat x, int divide_by, double eps_inside, double eps_outside) {
  double mean = 0, variance = 0;
  for (int j = 0; j < x.cols; ++j) mean += x(0, j) / x.cols;
  for (int j = 0; j < x.cols; ++j) variance += (x(0, j) - mean) * (x(0, j) - mean) / divide_by;
  return (x(0, 0) - mean) / (std::sqrt(variance + eps_inside) + eps_outside);
}

static double op_value(const Matrix& x) {
  Tape tape;
  Matrix ones(Shape{1, x.cols()});
  tape.be.fill(ones, 1);
  return layer_norm(tape.constant(x, "x"), tape.constant(ones, "gain"), tape.constant(Matrix(Shape{1, x.cols()}), "bias")).value()(0, 0);
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "07");
  Tape& tape = page.tape;
  const Labels words = page.words();
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows, C = X.shape().cols;
  Matrix start(Shape{1, C});
  for (int j = 0; j < C; ++j) start(0, j) = Real(1 + 0.5 * j);  // usually all 1; different ones can be told apart
  const Var gain = tape.input(page.matrix("gain", start), "gain"), bias = tape.input(page.matrix("bias", Matrix(Shape{1, C})), "bias");

  page.step("Words", "X", "one row per word");
  page.show({X}, words);

  page.step("In steps", "D = X − mean   v = mean of D²   σ = √(v + ε)   xhat = D / σ", "each word alone; ε = 1e-5 keeps a constant row from 0/0");
  const Var Y = layer_norm_steps(X, gain, bias, 1e-5);
  const Var xhat = tape.find("xhat"), sigma = tape.find("sigma");
  page.show({tape.find("mean"), sigma, xhat}, words);
  page.spell(xhat, 0, 0);
  page.check("rows of xhat have mean 0", {{by_hand::row_sums(xhat.value()), Matrix(Shape{n, 1})}});

  page.step("Gain and bias", "y = xhat ∘ gain + bias", "learned, one per column: the net may undo the norm where it wants to");
  page.show({gain});
  page.show({Y}, words);
  page.check("the op layer_norm in one line", {{layer_norm(X, gain, bias).named("Y_op").value(), Y.value()}});

  page.part("Back", "And back. Mean and variance depend on every entry of the row, so dX does too.\n"
            "(ok: nudging every number a little gives the same gradient.)");
  page.step("Given", "dy = dL/dy", "random");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y});

  page.step("Into all", "u = dy ∘ gain   dX = (u − mean u − xhat mean(u xhat)) / σ");
  page.show_gradient({gain, bias});
  page.show_gradient({X});
  Matrix dX(X.shape()), dgain(Shape{1, C});
  for (int i = 0; i < n; ++i) {
    double mean_u = 0, mean_ux = 0;
    for (int j = 0; j < C; ++j) {
      mean_u += dY(i, j) * gain.value()(0, j) / C;
      mean_ux += dY(i, j) * gain.value()(0, j) * xhat.value()(i, j) / C;
      dgain(0, j) += dY(i, j) * xhat.value()(i, j);
    }
    for (int j = 0; j < C; ++j) {
      dX(i, j) = (dY(i, j) * gain.value()(0, j) - mean_u - xhat.value()(i, j) * mean_ux) / sigma.value()(i, 0);
    }
  }
  page.check("formulas for dX, dgain, dbias", {{X.grad(), dX}, {gain.grad(), dgain}, {bias.grad(), by_hand::col_sums(dY)}});
  page.check("rows of dX sum to 0: shifting a row changes nothing", {{by_hand::row_sums(X.grad()), Matrix(Shape{n, 1})}});

  page.part("More", "Four things to know.");
  page.step("The two conventions", "divide by C, and ε inside the root", "the row 1 0 0 0, then the row 0.002 0 -0.002 0");
  const Matrix one{{1, 0, 0, 0}}, tiny{{0.002, 0, -0.002, 0}};
  page.say("   divided by C: " + page.measured(normalised(one, 4, 1e-5, 0)) + ", by C − 1: " + page.measured(normalised(one, 3, 1e-5, 0)) +
           ".   ε inside: " + page.measured(normalised(tiny, 4, 1e-5, 0)) + ", outside: " + page.measured(normalised(tiny, 4, 0, 1e-5)) + ".");
  page.check("the op uses the first of each", std::fabs(op_value(one) - normalised(one, 4, 1e-5, 0)) < page.rounding() &&
             std::fabs(op_value(tiny) - normalised(tiny, 4, 1e-5, 0)) < page.rounding());

  page.step("A large mean", "variance = mean of squares − square of the mean?", "right on paper; the row 1e9 + 1 2 3 4");
  double mean = 0, squares = 0;
  for (int j = 1; j <= 4; ++j) mean += (1e9 + j) / 4, squares += (1e9 + j) * (1e9 + j) / 4;
  page.say("   the computer gets " + page.measured(squares - mean * mean) + "; the variance is 1.25.");
  page.check("subtracting the mean first is right", op_value(Matrix{{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}}), -1.5 / std::sqrt(1.25 + 1e-5), 1e-9, About::doubles);

  page.step("Only the direction counts", "dx ⟂ x", "scaling a row changes nothing, so the gradient cannot point along it");
  Tape exact;
  const Var x = exact.input(X.value(), "x"), g = exact.constant(gain.value(), "gain"), r = rms_norm(x, g, 1e-12);
  exact.backward(r, dY);
  Matrix along(Shape{n, 1});
  for (int i = 0; i < n; ++i) along(i, 0) = Real(by_hand::dot(x.grad().block(i, 0, 1, C), x.value().block(i, 0, 1, C)));
  page.check("RMS norm: dx · x = 0 in every row", {{along, Matrix(Shape{n, 1})}});

  page.step("RMSNorm", "y = x / √(mean x² + ε) ∘ gain", "layer norm without the mean to subtract, and without a bias");
  const Var big = exact.constant(by_hand::scaled(10, X.value()), "10 x");
  page.check("10 x gives the same as x", {{rms_norm(big, g, 1e-12).value(), r.value()}, {rms_norm_steps(big, g, 1e-12).value(), r.value()}});
  return page.done();
} catch (const std::exception& e) {
  return fail("07", e);
}
