// tutorials/06_cross_entropy.cpp: how wrong is a guess? The loss of a classifier, and its surprisingly simple gradient.
// Read first: 05_softmax.   Next: 07_layer_norm.   The op: engine/ops/cross_entropy.cpp   In steps: layers/losses.h
#include <cmath>

#include "layers/losses.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static double loss_of(const Matrix& logits, const std::vector<int>& targets, CrossEntropy options = {}) {
  Tape tape;
  return double(cross_entropy(tape.constant(logits, "X"), targets.data(), int(targets.size()), options).value()(0, 0));
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "06");
  Tape& tape = page.tape;
  const Labels animals = {"cat", "dog", "bird"}, pictures = {"photo 1", "photo 2", "photo 3", "photo 4"};
  const int none = -100;  // "ignore this row"
  const std::vector<int> targets = {0, 2, 1, none};
  const Matrix X_given{{2, 1, -1}, {0.5, 0.5, 0.5}, {3, -2, 0}, {9, 9, -9}};
  const Var X = tape.input(X_given, "X");

  page.step("Guesses", "X", "a row per picture, a score (logit) per class; photo 4 has no label: ignored");
  page.show({X}, pictures, animals);

  page.step("Log of the softmax", "L_ij = X_ij − ln Σ_k e^X_ik", "the logarithm of the probability of each class");
  const Var L = log_softmax(X).named("L");
  page.show({L}, pictures, animals);
  page.check("L = ln softmax(X)", {{by_hand::softmax(X_given), exp(L).value()}});

  page.step("The loss", "loss = mean of −L at the right classes", "only rows that count: here 3 of 4");
  const Var loss = cross_entropy(X, targets.data(), 4).named("loss");
  page.show({loss});
  page.say("   right classes: cat, bird, dog. Their −L: " + page.measured(-L.value()(0, 0)) + ", " + page.measured(-L.value()(1, 2)) +
           ", " + page.measured(-L.value()(2, 1)) + ".");
  page.check("the mean of the three", loss.value()(0, 0), -(L.value()(0, 0) + L.value()(1, 2) + L.value()(2, 1)) / 3);
  page.check("no opinion (photo 2) costs ln 3", -L.value()(1, 2), std::log(3.0));

  page.part("Back", "And back. The loss is a single number, so the seed is 1.");
  page.step("Softmax minus truth", "dX = (P − Y) / 3", "P = softmax(X), Y = 1 at the right class; a step goes against dX");
  Matrix P = by_hand::softmax(X_given), Y(X_given.shape()), formula(X_given.shape());
  for (int i = 0; i < 3; ++i) {
    Y(i, targets[i]) = 1;
    for (int j = 0; j < 3; ++j) formula(i, j) = (P(i, j) - Y(i, j)) / 3;
  }
  page.show_matrix("P", P, pictures, animals);
  page.backward(loss, Matrix{{1}});
  page.show_gradient({X});
  page.check("formula for dX; the ignored row gets exactly 0", {{X.grad(), formula}});
  page.check("rows of dX sum to 0: what one class wins the others lose", {{by_hand::row_sums(X.grad()), Matrix(Shape{4, 1})}});

  Tape steps;
  const Var X2 = steps.input(X_given.view().block(0, 0, 3, 3), "X"), loss2 = cross_entropy_steps(X2, {0, 2, 1});
  steps.backward(loss2);
  page.check("the same from small steps: loss, dX", {{loss2.value(), loss.value()}, {X2.grad(), X.grad().block(0, 0, 3, 3)}});

  page.part("More", "Four things to know.");
  page.step("Never log(softmax(x))", "x = 0  1000, right class: the first", "its weight underflows to 0, and ln 0 is -inf");
  const Matrix far{{0, 1000}};
  const double weight = by_hand::softmax(far)(0, 0);
  page.say("   softmax gives " + page.measured(weight) + ", its logarithm is " + page.measured(std::log(weight)) + ". The log-softmax in one step: " +
           page.measured(-loss_of(far, {0})) + ".");
  page.check("from the logits the loss is 1000", loss_of(far, {0}), 1000);
  page.check("huge equal logits still cost ln 2", loss_of(Matrix{{1e8, 1e8}}, {1}), std::log(2.0));

  page.step("Nothing to learn from", "every row ignored", "a mean over no rows would be 0/0");
  page.check("by our choice the loss is 0, not nan", loss_of(X_given, {none, none, none, none}), 0.0);

  page.step("Label smoothing", "q = (1 − ε) Y + ε / K, dX = (P − q) / rows", "ε = 0.3 here: do not be surer than 0.8 of one class");
  const Matrix q{{0.8, 0.1, 0.1}}, best{{std::log(0.8), std::log(0.1), std::log(0.1)}};
  Tape smooth;
  const Var Z = smooth.input(best, "Z"), soft = cross_entropy(Z, targets.data(), 1, {none, 0.3});
  smooth.backward(soft);
  page.check("at P = q the gradient is 0: the logits stop growing", {{Z.grad(), Matrix(Z.shape())}, {by_hand::softmax(best), q}});
  page.check("a sure right guess (20 0 0) now costs 4", loss_of(Matrix{{20, 0, 0}}, {0}, {none, 0.3}), 4, 1e-7);
  page.check("without smoothing it costs next to nothing", loss_of(Matrix{{20, 0, 0}}, {0}) < 1e-8);

  page.step("A number to compare with", "ln K", "a loss above it is worse than no opinion");
  page.check("no opinion about 65 letters costs ln 65 = 4.17", loss_of(Matrix(Shape{1, 65}), {7}), std::log(65.0));
  return page.done();
} catch (const std::exception& e) {
  return fail("06", e);
}
