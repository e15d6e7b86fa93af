// tutorials/08_feed_forward.cpp: two linear layers with a bend in between, the bends to choose from, and dropout.
// Read first: 04_linear.   Next: 09_self_attention.   The layers: layers/feed_forward.h, layers/dropout.h
#include "layers/feed_forward.h"

#include <cmath>

#include "layers/dropout.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static Var bend(int which, Var x) { return which == 0 ? relu(x) : which == 1 ? gelu(x) : which == 2 ? gelu_tanh(x) : silu(x); }

int main(int argc, char** argv) try {
  Page page(argc, argv, "08");
  Tape& tape = page.tape;
  const Labels words = page.words(), bends = {"relu", "gelu", "gelu_tanh", "silu"};
  const Var X = page.word_vectors("X");
  const int C = X.shape().cols, hidden = page.shape_of("W_1", {C, 5}).cols;
  FeedForward ff(page.params, "", C, hidden, Activation::relu, page.rng);
  page.settle(page.params);
  if (page.options.set.count("b_1") == 0) tape.be.fill(ff.up.b->value, Real(0.005));  // no U lands on the kink at 0

  page.step("Bends", "relu = max(x, 0)   gelu = x Φ(x)   silu = x σ(x)", "without a bend two linear layers are only one");
  const Matrix points{{-3, -1, -0.5, 0.5, 1, 3}}, ones{{1, 1, 1, 1, 1, 1}};
  const Labels at = {"x = -3", "-1", "-0.5", "0.5", "1", "3"};
  Matrix values(Shape{4, 6}), slopes(Shape{4, 6});
  bool slopes_ok = true;
  for (int i = 0; i < 4; ++i) {
    Tape one;
    const Var x = one.input(points, "x"), y = bend(i, x);
    one.backward(y, ones);  // entry by entry, so ones are not blind here
    tape.be.copy(y.value(), values.view().block(i, 0, 1, 6));
    tape.be.copy(x.grad(), slopes.view().block(i, 0, 1, 6));
    slopes_ok = slopes_ok && gradient_gap(one, y, ones, x).ok();
  }
  page.show_matrix("values", values, bends, at);
  page.show_matrix("slopes", slopes, bends, at);
  page.check("each slope = central differences", slopes_ok);
  double apart = 0;
  for (int j = 0; j < 6; ++j) apart = std::max(apart, std::fabs(double(values(1, j) - values(2, j))));
  page.check("gelu and its tanh approximation differ, by less than 5e-4", apart > 0 && apart < 5e-4);

  page.step("Feed-forward", "U = X W_1 + b_1   H = relu(U)   Y = H W_2 + b_2", "each word alone, through a wider layer and back; b_1 = 0.005, b_2 = 0");
  const Var Y = ff(X), H = tape.find("H"), U = tape.find("U"), W_1 = tape.find("W_1"), W_2 = tape.find("W_2");
  page.show({X}, words);
  page.show({W_1});
  page.show({U, H}, words);
  page.show({W_2});
  page.show({Y}, words);

  page.part("Back", "And back, layer by layer.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Given", "dY = dL/dY", "random");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y});

  page.step("Through W_2", "dH = dY W_2ᵀ   dW_2 = Hᵀ dY");
  page.show_gradient({H});
  page.show_gradient({W_2});
  page.check("formulas for dH, dW_2", {{H.grad(), by_hand::product_nt(dY, W_2.value())},
             {W_2.grad(), by_hand::product_tn(H.value(), dY)}});

  page.step("Through the bend", "dU = dH where U > 0, else 0", "a unit that is off learns nothing from this word");
  page.show_gradient({U});
  Matrix dU(H.grad());
  for (int i = 0; i < dU.rows(); ++i)
    for (int j = 0; j < dU.cols(); ++j) dU(i, j) *= U.value()(i, j) > 0;
  page.check("formula for dU", {{U.grad(), dU}});
  page.step("Into W_1 and X", "dW_1 = Xᵀ dU   dX = dU W_1ᵀ");
  page.show_gradient({W_1, X});
  page.check("formulas for dW_1, dX", {{W_1.grad(), by_hand::product_tn(X.value(), dU)},
             {X.grad(), by_hand::product_nt(dU, W_1.value())}});

  page.part("More", "Two things to know.");
  page.step("The kink", "relu at exactly 0", "left slope 0, right slope 1: the tape says 0, differences say 1/2");
  Tape kink;
  const Var zero = kink.input(Matrix{{0}}, "x"), r = relu(zero);
  kink.backward(r);
  page.check("slope 0 at 0, also spelled maximum(0, x)", zero.grad()(0, 0), 0.0);
  page.check("the check by differences fails there, as it must", !gradient_gap(kink, r, Matrix{{1}}, zero).ok());

  page.step("Dropout", "y = kept ? x / (1 − p) : 0", "while training only; evaluation takes x as it is");
  Matrix x(Shape{1, 10000}), quarter{{0.25, 0.25, 0.25, 0.25}};
  tape.be.fill(x, 1);
  Tape drops;
  const Var dropped = dropout(drops.constant(x, "x"), 0.2, page.options.seed), row = dropout(drops.constant(quarter, "row"), 0.5, 1);
  page.check("the mean stays: 10000 ones, p = 0.2", double(mean(dropped).value()(0, 0)), 1.0, 1e-2);
  page.check("a row of weights no longer sums to 1", std::fabs(by_hand::row_sums(row.value())(0, 0) - 1) > 0.4);
  Dropout layer(0.5, page.rng);
  layer.training = false;
  const Var same = drops.constant(quarter, "row");
  page.check("in evaluation nothing happens", layer(same).id == same.id);
  return page.done();
} catch (const std::exception& e) {
  return fail("08", e);
}
