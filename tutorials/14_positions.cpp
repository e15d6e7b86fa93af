// tutorials/14_positions.cpp: attention does not know in which order the words come. Two ways to tell it.
// Read first: 09_self_attention.   Next: see the end of the output.   The layers: layers/positional/
#include <cmath>
#include <set>

#include "layers/attention/self_attention.h"
#include "layers/positional/learned.h"
#include "layers/positional/sinusoidal.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static Matrix backwards(Mat x) {  // the rows from the last to the first
  Matrix y(x.shape());
  for (int i = 0; i < x.rows; ++i)
    for (int c = 0; c < x.cols; ++c) y(i, c) = x(x.rows - 1 - i, c);
  return y;
}

static Matrix one_step_further(Mat waves) {  // each row with its pairs of columns turned, pair i by w_i
  Matrix y(waves.shape());
  for (int p = 0; p < waves.rows; ++p) {
    for (int i = 0; 2 * i + 1 < waves.cols; ++i) {
      const double w = std::pow(10000.0, -2.0 * i / waves.cols), s = waves(p, 2 * i), c = waves(p, 2 * i + 1);
      y(p, 2 * i) = Real(s * std::cos(w) + c * std::sin(w)), y(p, 2 * i + 1) = Real(c * std::cos(w) - s * std::sin(w));
    }
  }
  return y;
}

static bool differ(Mat a, Mat b) { return by_hand::distance(a, b) > 1e-3; }

int main(int argc, char** argv) try {
  Page page(argc, argv, "14");
  Tape& tape = page.tape;
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows, C = X.shape().cols, longest = std::max(8, n + 2), d = page.shape_of("W_v", {C, 3}).cols;
  SelfAttention attend(page.params, C, page.shape_of("W_q", {C, 3}).cols, d, page.rng);
  attend.form = SelfAttention::Form::fused;
  const LearnedPositions positions(page.params, "P", longest, C, page.rng);
  positions.table->set(by_hand::scaled(25, positions.table->value));  // a real table starts this much smaller
  page.settle(page.params);
  const Labels words = page.words(), back(words.rbegin(), words.rend());
  const bool varied = std::set<std::string>(words.begin(), words.end()).size() > 1, twice = n > 4 && words[0] == words[4];

  page.step("Attention", "Y = attend(X)", "the head of lesson 09 with its weights, in one line of the tape");
  const Var Y_x = attend(X).named("Y_x");
  page.show({X, Y_x}, words);
  if (twice) page.check("both \"" + words[0] + "\" get the same row: their place is lost", {{Y_x.value().block(0, 0, 1, d), Y_x.value().block(4, 0, 1, d)}});

  page.step("Another order", "attend(moved X) = moved attend(X)", "the same words, from the last to the first");
  const Var X_back = tape.constant(backwards(X.value()), "X_back"), Y_back = attend(X_back).named("Y_back");
  page.show({X_back, Y_back}, back);
  page.check("equivariant: the rows of Y move along with the words", {{Y_back.value(), backwards(Y_x.value())}});
  if (varied) page.check("not invariant: Y itself has changed", differ(Y_back.value(), Y_x.value()));
  page.check("pooled, the mean of the rows of Y, it is invariant", {{col_mean(Y_back).value(), col_mean(Y_x).value()}});
  const Mask causal = Mask::causal(n, n);
  if (varied) page.check("with a causal mask not even equivariant", differ(attend(X_back, &causal).value(), backwards(attend(X, &causal).value())));

  page.step("Waves", "Z_w = √C X + sin(p w_i) in columns 2i, cos(p w_i) in 2i+1", "w_i = 10000^(-2i/C): i counts pairs of columns, p places; here w_0 = 1");
  const Var Z_w = SinusoidalPositions()(X).named("Z_w"), waves = tape.find("waves");
  page.show({waves, Z_w}, words);
  if (C % 2 == 0) {
    const Mat here = waves.value().block(0, 0, n - 1, C), next = waves.value().block(1, 0, n - 1, C), pair = waves.value().block(n - 1, C - 2, 1, 2);
    page.check("i counts pairs: sin² + cos² = 1 in the last two columns", by_hand::dot(pair, pair), 1);
    page.check("one step further: every pair is turned by its own w_i", {{next, one_step_further(here)}});
    page.check("row p · row q depends on p − q only", {{by_hand::product_nt(here, here), by_hand::product_nt(next, next)}});
  }
  const Var Y_w = attend(Z_w), Y_w_back = attend(SinusoidalPositions()(X_back));
  if (twice) page.check("in Z_w both \"" + words[0] + "\" have rows of their own", differ(Z_w.value().block(0, 0, 1, C), Z_w.value().block(4, 0, 1, C)));
  if (varied) page.check("with waves, moved words are other words: order counts", differ(Y_w_back.value(), backwards(Y_w.value())));
  const Matrix wide = sinusoidal_table(65, 64);
  std::vector<double> alike;
  for (int k = 1; k < 65; ++k) alike.push_back(by_hand::dot(wide.view().block(0, 0, 1, 64), wide.view().block(k, 0, 1, 64)));
  page.curve("two rows of waves, 64 wide, k places apart:", {{"row p · row p+k", alike}});

  page.step("A learned row for each place", "Z_i = X_i + P_i", "P is a table of parameters, trained like any other");
  const Var Z = positions(X), Y = attend(Z), P = tape.find("P");
  page.show({P});
  page.show({Z, Y}, words);
  page.spell(Z, n - 1, 0);
  bool refused = false;
  try {
    positions(tape.constant(Matrix(Shape{longest + 1, C}), "too long"));
  } catch (const ShapeError&) {
    refused = true;
  }
  page.check("more words than P has rows: refused, nothing is read", refused);

  page.part("Back", "And back, through the learned table.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Given", "dY = dL/dY", "random; dZ as in lesson 09");
  page.backward(Y, page.random_seed(Y));
  page.show_gradient({Y, Z});

  page.step("Through Z = X + P", "dX = dZ   dP_p = Σ of dZ over the rows at p");
  page.show_gradient({P});
  page.spell_gradient(P, 0, 0);
  Matrix dP(P.shape());
  tape.be.copy(Z.grad(), dP.view().block(0, 0, n, C));
  page.check("formulas for dX, dP; a row that no word reached gets 0", {{X.grad(), Z.grad()}, {P.grad(), dP}});
  const LearnedPositions shared(page.params, "P shared", longest, C, page.rng);
  Tape batch;
  const Var two[] = {batch.constant(Z.grad(), "one"), batch.constant(backwards(Z.grad()), "two")}, both = concat_rows(two, 2);
  batch.backward(shared(both, 2), Matrix(both.value()));
  page.check("two sentences share the table: their gradients add up", {{shared.table->grad.view().block(0, 0, n, C), by_hand::sum(two[0].value(), two[1].value())}});

  page.part("More", "A text of 6 words, and a table that was trained with 4 rows?");
  page.step("Stretched table", "P'_r = (1 − f) P_k + f P_(k+1)   k + f = s", "new row r lies at s = (r + 1/2) 4/6 − 1/2 between the old ones, or at the end");
  Tape other;  // the steps on a tape of their own
  const Var old = other.input(P.value().block(0, 0, 4, C), "P"), stretch = stretched(old, 6), ends = stretched(old, 6, Stretch::align_corners);
  const Mat seed = P.value().block(1, 0, 6, C);  // any numbers
  other.backward(stretch, seed);
  page.show_matrix("P'", stretch.value());
  page.check("row 1 lies at s = 1/2: half of old row 0, half of row 1", {{stretch.value().block(1, 0, 1, C), by_hand::scaled(0.5, by_hand::sum(old.value().block(0, 0, 1, C), old.value().block(1, 0, 1, C)))}});
  page.check("each old row gets (1 − f) or f of dP': = differences", gradient_gap(other, stretch, seed, old).ok());
  page.check("align corners, s = r (4 − 1) / (6 − 1): the ends stay", {{ends.value().block(0, 0, 1, C), old.value().block(0, 0, 1, C)}, {ends.value().block(5, 0, 1, C), old.value().block(3, 0, 1, C)}});
  return page.done();
} catch (const std::exception& e) {
  return fail("14", e);
}
