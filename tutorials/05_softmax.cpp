// tutorials/05_softmax.cpp: scores become weights. Its steps, its Jacobian, its traps, and a check that is blind to it.
// Read first: 04_linear.   Next: 09_self_attention.   The layer: layers/softmax.h   The op: engine/ops/softmax.cpp
#include "layers/softmax.h"

#include <cmath>

#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// A softmax whose backward does nothing. Who notices?
struct LazySoftmaxOp final : Op {
  const char* name() const override { return "lazy_softmax"; }
  void forward(Step& s) override { s.be.softmax_rows(s.x[0], s.y); }
  void backward(Step&) override {}
};

static bool lazy_passes(Mat E, Mat seed) {
  Tape tape;
  const Var e = tape.input(E, "E"), a = tape.record<LazySoftmaxOp>(E.shape(), {e}, {});
  tape.backward(a, seed);
  return gradient_gap(tape, a, seed, e).ok();
}

// The size of dE when the scores are multiplied by `factor`.
static double gradient_size(Mat E, Mat dA, double factor) {
  Tape tape;
  const Var e = tape.input(by_hand::scaled(factor, E), "E");
  tape.backward(softmax(e), dA);
  return by_hand::norm(e.grad());
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "05");
  Tape& tape = page.tape;
  const Matrix scores = page.matrix("E", {{1, 2, 3, 0.5}, {-799, -798, -797, -799.5}, {4, 0, -2, 3.5}});
  const Var E = tape.input(scores, "E");
  Labels rows = {"calm", "low", "sharp"};
  if (E.shape().rows != 3) rows.clear();

  page.step("Scores", "E", "each row is one decision; \"low\" is \"calm\" minus 800");
  page.show({E}, rows);

  page.step("Five small steps", "m = row max  Z = E − m  P = e^Z  s = row sum  A = P / s");
  const Var A = softmax_steps(E);
  const Var m = tape.find("m"), Z = tape.find("Z"), P = tape.find("P"), s = tape.find("s");
  page.show({m, Z}, rows);
  page.show({P, s}, rows);
  page.show_row_sums(A, rows);
  page.spell(A, 0, 2);
  const Var A_op = softmax(E).named("A_op");
  page.check("the op softmax() does the same in one line", {{A_op.value(), A.value()}, {A.value(), by_hand::softmax(E.value())}});
  if (rows.size() == 3) {
    page.check("a number added to a whole row changes nothing: low = calm", {{A.value().block(1, 0, 1, E.shape().cols),
               A.value().block(0, 0, 1, E.shape().cols)}});
    const double top = 4, low = std::exp(-799 - top) + std::exp(-798 - top) + std::exp(-797 - top) + std::exp(-799.5 - top);
    page.say("   Why the maximum of the ROW? With that of the whole matrix, 4, the row \"low\" would sum to " + page.measured(low) +
             ", every weight would be " + page.measured(low / low) + ". With none at all, e^710 is " + page.measured(std::exp(710.0)) + ".");
    page.check("a global maximum gives 0/0 for a low row", std::isnan(low / low));
  }

  page.turn_back("And back. Each weight depends on every score of its row.");
  page.step("The Jacobian", "J_ij = ∂A_i/∂E_j = A_i ([i = j] − A_j)", "row 0, one backward() per weight, with a 1 there");
  const int C = E.shape().cols;
  Matrix J(Shape{C, C}), J_formula(Shape{C, C});
  Tape one_row;
  const Var e = one_row.input(E.value().block(0, 0, 1, C), "e"), a = softmax(e);
  for (int i = 0; i < C; ++i) {
    Matrix onehot(Shape{1, C});
    onehot(0, i) = 1;
    one_row.clear_gradients();
    one_row.backward(a, onehot);
    for (int j = 0; j < C; ++j) {
      J(i, j) = e.grad()(0, j);
      J_formula(i, j) = a.value()(0, i) * ((i == j) - a.value()(0, j));
    }
  }
  page.show({tape.constant(J, "J")});
  page.check("the formula; rows and columns of J sum to 0", {{J, J_formula}, {by_hand::row_sums(J), Matrix(Shape{C, 1})},
             {by_hand::col_sums(J), Matrix(Shape{1, C})}});

  page.step("All at once", "dE = A ∘ (dA − rowsum(A ∘ dA))", "the same, without ever storing a Jacobian");
  const Matrix dA = page.random_seed(A);
  page.backward(A, dA);
  page.show_gradient({A, E});
  page.check("the formula", {{E.grad(), by_hand::softmax_backward(A.value(), dA)}});
  page.spell_gradient(Z, 0, 0);
  page.check("m gets no gradient: subtracting it is only a trick", {{m.grad(), Matrix(m.shape())}}, 1e-12);

  page.step("A blind check", "L = Σ A_ij, that is dA = all ones",
            "rows sum to 1 whatever E is, so L cannot move: every gradient looks like 0");
  Matrix ones(A.shape());
  tape.be.fill(ones, 1);
  page.check("with ones, a backward that does nothing PASSES", lazy_passes(scores, ones));
  page.check("with random numbers it is caught", !lazy_passes(scores, dA));

  page.step("Temperature", "A = softmax(E / T)", "the row \"calm\": small T sharpens, large T flattens");
  const double temperatures[] = {0.25, 1, 4};
  Matrix by_temperature(Shape{3, C});
  for (int i = 0; i < 3; ++i) {
    const Var row = Softmax{temperatures[i]}(tape.view(E, 0, 0, 1, C));
    tape.be.copy(row.value(), by_temperature.view().block(i, 0, 1, C));
  }
  page.show_row_sums(tape.constant(by_temperature, "A_T"), {"T = 1/4", "T = 1", "T = 4"});
  page.check("T = 1 is plain softmax", {{by_temperature.view().block(1, 0, 1, C), A.value().block(0, 0, 1, C)}});

  page.step("Saturation", "scores × 1, × 10, × 100", "a decided row no longer learns: the gradient of its scores dies");
  const Mat calm = scores.view().block(0, 0, 1, C), d_calm = dA.view().block(0, 0, 1, C);
  const double size1 = gradient_size(calm, d_calm, 1), size10 = gradient_size(calm, d_calm, 10), size100 = gradient_size(calm, d_calm, 100);
  page.say("   size of dE: " + page.measured(size1) + ", " + page.measured(size10) + ", " + page.measured(size100));
  page.check("it shrinks, in the end to nothing", size10 < size1 && size100 < 1e-12);
  return page.done();
} catch (const std::exception& e) {
  return fail("05", e);
}
