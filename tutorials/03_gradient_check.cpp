// tutorials/03_gradient_check.cpp: is a gradient right? Nudge, replay, compare; and what that can and cannot see.
// Read first: 02_tape.   Next: 04_linear.   The code behind it: engine/gradcheck.h
#include <algorithm>
#include <cmath>

#include "engine/ops.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// L = x e^x on a tape; its value elsewhere by replay.
struct Curve {
  Tape tape;
  Var x = tape.input(Matrix{{0.5}}, "x"), e = exp(x).named("e"), L = mul(x, e).named("L");

  double at(double v) {
    tape.set(x, Matrix{{v}});
    tape.replay();
    return L.value()(0, 0);
  }
  // 0 forward, 1 central, 2 five points. Divided by the step that was really taken, for x + h is rounded.
  double secant(int form, double v, double h) {
    if (form == 0) return (at(v + h) - at(v)) / ((v + h) - v);
    if (form == 1) return (at(v + h) - at(v - h)) / ((v + h) - (v - h));
    return (4 * secant(1, v, h) - secant(1, v, 2 * h)) / 3;
  }
};

// Would dX pass as the gradient of X, when the result is L = Σ dY ∘ Y?
static bool passes(Var Y, Mat dY, Var X, Mat dX) {
  Y.tape->clear_gradients();
  Y.tape->backward(Y, dY);
  Y.tape->be.copy(dX, X.grad());
  return gradient_gap(*Y.tape, Y, dY, X).ok();
}

static bool relu_passes(double at) {
  Tape tape;
  const Var x = tape.input(Matrix{{at}}, "x"), y = relu(x);
  tape.backward(y);
  return gradient_gap(tape, y, Matrix{{1}}, x).ok();
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "03");
  const Var X = page.tape.input(page.matrix("X", {{1, -2, 3}, {0.5, 4, -1}}), "X");
  Curve curve;
  const double x = 0.5, L = curve.at(x), slope = (1 + x) * std::exp(x);

  page.step("A claim", "L = x eˣ   dL/dx = eˣ + x eˣ", "so says the tape; here at x = 0.5");
  curve.tape.backward(curve.L);
  page.show_tape(curve.tape);
  page.check("by calculus: (1 + x) e^x", curve.x.grad()(0, 0), slope, 1e-15);
  page.check("by the check of every lesson", gradient_gap(curve.tape, curve.L, Matrix{{1}}, curve.x).ok());

  page.step("Secants", "move x by h: how far does L move, divided by h?",
            "forward (L(x+h) − L(x)) / h      central (L(x+h) − L(x−h)) / 2h\n   five points (4 central(h) − central(2h)) / 3");
  Matrix secant(Shape{12, 3}), order(Shape{1, 3});
  Labels steps;
  std::string picture = "\n                 forward       central       five";
  for (int k = 0; k < 12; ++k) {
    const double h = std::pow(10, -1 - k), rounding = 2e-15 * L / h;  // an error below that is luck, not skill
    steps.push_back("h = " + page.measured(h));
    std::string row = "   " + steps.back();
    for (int form = 0; form < 3; ++form) {
      secant(k, form) = curve.secant(form, x, h);
      const double error = std::max(std::fabs(secant(k, form) - slope), rounding);
      row.resize(std::size_t(17 + 14 * form), ' ');
      row += std::string(std::size_t(std::log10(slope / error)), '*');
    }
    picture += "\n" + row;
  }
  for (int form = 0; form < 3; ++form) order(0, form) = std::log10((secant(0, form) - slope) / (secant(1, form) - slope));
  page.show_matrix("secant", secant.view().block(0, 0, 4, 3), steps, {"forward", "central", "five"});
  page.check("from h = 0.1 to 0.01 the errors fall as h, h^2, h^4", {{order, Matrix{{1, 2, 4}}}}, 1e-1, About::doubles);

  page.step("The valley", "* = one right digit.  The smaller h, the better?", "no: L is rounded at its 16th digit, and that error is divided by h");
  page.say(picture);
  page.check("the best: five points, h = 0.001, 12 digits", std::fabs(secant(2, 2) / slope - 1) < 1e-12, About::doubles);
  page.check("h = 1e-12: more than half of the digits are lost", std::fabs(secant(11, 0) / slope - 1) > 1e-8);
  page.check("in float, with 7 digits, 0.5 + 1e-8 is 0.5: no step at all", 0.5f + 1e-8f == 0.5f);

  page.step("Units", "s L has s times the slope", "central(0.001) against a right tape and one that forgets a path (eˣ only):");
  const double central = secant(2, 1), right = std::fabs(central - slope), wrong = std::fabs(central - std::exp(x));
  page.show_matrix("difference", Matrix{{1e-9 * right, 1e-9 * wrong}, {right, wrong}, {1e9 * right, 1e9 * wrong}},
                   {"s = 1e-9", "s = 1", "s = 1e9"}, {"right", "wrong"});
  page.check("right with s = 1e9 differs more than wrong with s = 1e-9", 1e9 * right > 1e-9 * wrong);
  page.check("divided by the slope: right < 1e-6, wrong > 0.3", right / slope < 1e-6 && wrong / slope > 0.3, About::doubles);
  curve.at(-1);  // where (1 + x) e^x is 0
  curve.tape.backward(curve.L);
  page.check("slope 0: never divided by less than a floor, so it passes", gradient_gap(curve.tape, curve.L, Matrix{{1}}, curve.x).ok());

  page.step("A matrix", "Y = X J: each row reversed   L = Σ dY_ij Y_ij", "one L, with random dY; each entry of X is nudged by itself");
  Matrix J(Shape{X.shape().cols, X.shape().cols});
  for (int j = 0; j < J.cols(); ++j) J(j, J.cols() - 1 - j) = 1;
  const Var Y = matmul(X, page.tape.constant(J, "J")).named("Y");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show({X, Y});
  page.show_gradient({Y, X});

  page.step("A wrong dX", "dY itself, not reversed", "the right shape, the right numbers, the wrong places");
  Tape other;
  const Var X2 = other.input(X.value(), "X"), Y2 = matmul(X2, other.constant(J, "J"));
  Matrix ones(X.shape());
  other.be.fill(ones, 1);
  page.check("if dY is all ones, it passes", passes(Y2, ones, X2, ones));
  page.check("if norms are compared, it passes", by_hand::norm(dY), by_hand::norm(X.grad()));
  page.check("with random dY, entry by entry, it is caught", !passes(Y2, dY, X2, dY));

  page.step("Kinks", "y = max(x, 0)", "at 0 the slope is 0 on the left and 1 on the right; central says 1/2");
  page.check("at 0 it fails, though no rule is wrong", !relu_passes(0));
  page.check("at 1e-6 it fails: h = 1e-3, 1e-4, 1e-5 all step over 0", !relu_passes(1e-6));
  page.check("at 1e-4 it passes: the best h counts, and 1e-5 does not", relu_passes(1e-4), About::doubles);
  const Var tie = other.input(Matrix{{2, 2}}, "tie"), top = row_max(tie);
  page.check("row_max of 2  2 passes: replay keeps the first as maximum", passes(top, Matrix{{1}}, tie, Matrix{{1, 0}}));
  return page.done();
} catch (const std::exception& e) {
  return fail("03", e);
}
