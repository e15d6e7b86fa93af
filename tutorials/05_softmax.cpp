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
  const Matrix calm{{1, 2, 3, 0.5}};
  const Var E = tape.input(page.matrix("E", {{1, 2, 3, 0.5}, {-799, -798, -797, -799.5}, {4, 0, -2, 3.5}}), "E");
  const bool ours = page.options.set.count("E") == 0;
  const Labels rows = ours ? Labels{"calm", "low", "sharp"} : Labels{};
  const int C = E.shape().cols;

  page.step("Scores", "E", ours ? "each row is one decision; \"low\" is \"calm\" minus 800" : "each row is one decision");
  page.show({E}, rows);

  page.step("Five small steps", "m = row max  Z = E − m  P = e^Z  s = row sum  A = P / s");
  const Var A = softmax_steps(E);
  const Var m = tape.find("m"), Z = tape.find("Z"), P = tape.find("P"), s = tape.find("s");
  page.show({m, Z}, rows);
  page.show({P, s}, rows);
  page.show_row_sums(A, rows);
  page.spell(A, 0, C / 2);
  const Var A_op = softmax(E).named("A_op");
  page.check("the op softmax() does the same in one line", {{A_op.value(), A.value()}, {A.value(), by_hand::softmax(E.value())}});
  if (ours) {
    page.check("a number added to a whole row changes nothing: low = calm", {{A.value().block(1, 0, 1, C), A.value().block(0, 0, 1, C)}});
    const double top = 4, low = std::exp(-799 - top) + std::exp(-798 - top) + std::exp(-797 - top) + std::exp(-799.5 - top);
    page.say("   Why the maximum of the ROW? With that of the whole matrix, 4, the row \"low\" would sum to " + page.measured(low) +
             ", for e^-801 is too small for the computer, and every weight would be " + page.measured(low / low) +
             ". With no maximum at all: e^710 is " + page.measured(std::exp(710.0)) + ".");
    page.check("a global maximum gives 0/0 for a low row", std::isnan(low / low));
  }

  page.part("Back", "And back. Each weight depends on every score of its row.");
  page.step("The Jacobian", "J_ij = ∂A_i/∂E_j = A_i ([i = j] − A_j)", "row 0, one backward() per weight, with a 1 there");
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
  page.show_matrix("J", J);
  page.check("formula for J; its rows and columns sum to 0", {{J, J_formula}, {by_hand::row_sums(J), Matrix(Shape{C, 1})},
             {by_hand::col_sums(J), Matrix(Shape{1, C})}});

  page.step("All at once", "dE = A ∘ (dA − rowsum(A ∘ dA))", "the same for all rows, without ever storing a Jacobian; dA is random");
  const Matrix dA = page.random_seed(A);
  page.backward(A, dA);
  page.show_gradient({A, E});
  page.check("formula for dE", {{E.grad(), by_hand::softmax_backward(A.value(), dA)}});
  page.spell_gradient(Z, 0, 0);
  page.check("m gets no gradient: subtracting it is only a trick", {{m.grad(), Matrix(m.shape())}}, 1e-12);

  page.part("More", "Three things to know about softmax, shown on the row \"calm\": 1  2  3  0.5");
  page.step("A blind check", "L = Σ A_ij, that is dA = all ones",
            "rows sum to 1 whatever E is, so L cannot move: every gradient looks like 0");
  const Matrix ones{{1, 1, 1, 1}}, random{{0.8, -0.3, 1.4, -2.1}};
  page.check("with ones, a backward that does nothing goes unnoticed", lazy_passes(calm, ones));
  page.check("with random numbers it is noticed", !lazy_passes(calm, random));

  page.step("Temperature", "A = softmax(E / T)", "small T sharpens, large T flattens");
  const double temperatures[] = {0.25, 1, 4};
  Matrix by_temperature(Shape{3, 4});
  Tape warm;
  const Var row = warm.input(calm, "calm");
  for (int i = 0; i < 3; ++i) tape.be.copy(Softmax{temperatures[i]}(row).value(), by_temperature.view().block(i, 0, 1, 4));
  page.show_matrix("A", by_temperature, {"T = 1/4", "T = 1", "T = 4"});
  page.check("each row is softmax(E / T)", {{by_temperature.view().block(0, 0, 1, 4), by_hand::softmax(by_hand::scaled(4, calm))},
             {by_temperature.view().block(1, 0, 1, 4), by_hand::softmax(calm)},
             {by_temperature.view().block(2, 0, 1, 4), by_hand::softmax(by_hand::scaled(0.25, calm))}});

  page.step("Saturation", "scores × 1, × 10, × 100", "a decided row no longer learns: the gradient of its scores dies");
  const double size1 = gradient_size(calm, random, 1), size10 = gradient_size(calm, random, 10), size100 = gradient_size(calm, random, 100);
  page.say("   norm of dE: " + page.measured(size1) + ", " + page.measured(size10) + ", " + page.measured(size100));
  page.check("it shrinks, in the end to nothing", size10 < size1 && size100 < 1e-12);
  return page.done();
} catch (const std::exception& e) {
  return fail("05", e);
}
