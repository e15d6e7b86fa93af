// tutorials/16_softmax_alternatives.cpp: weights that do not come from a plain softmax, forward and back.
// Read first: 11_masks.   Next: see the end of the output.   The layers: layers/attention/alternatives.h, streaming.h
#include <cmath>
#include <memory>

#include "layers/attention/alternatives.h"
#include "layers/attention/streaming.h"
#include "layers/linear.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static const Labels kKinds = {"softmax", "sigmoid", "off_by_one", "sink", "soft_cap", "sparsemax", "entmax15"};

static std::unique_ptr<Variant> make(const std::string& kind, ParamStore& store, int n, Rng& rng) {
  if (kind == "sigmoid") return std::make_unique<SigmoidAttention>(store, "", n, rng);
  if (kind == "off_by_one") return std::make_unique<OffByOne>();
  if (kind == "sink") return std::make_unique<LearnedSink>(store, "", 1, rng);
  if (kind == "soft_cap") return std::make_unique<SoftCap>(1);
  if (kind == "sparsemax") return std::make_unique<Sparsemax>();
  if (kind == "entmax15") return std::make_unique<Entmax15>();
  return std::make_unique<Plain>();
}

// Weights for rows of scores z: with the identity as keys and as values, Y = A.
static Matrix weights_of_scores(const std::string& kind, const Matrix& z) {
  Tape tape;
  ParamStore store;
  Rng rng(1);
  Matrix I(Shape{z.cols(), z.cols()});
  for (int i = 0; i < z.cols(); ++i) I(i, i) = 1;
  const Var Q = tape.constant(by_hand::scaled(std::sqrt(z.cols()), z), "Q"), one = tape.constant(I, "I");
  return Matrix((*make(kind, store, z.cols(), rng))(Q, one, one).value());
}

// dE = g ∘ (dA − m), one m for each row: every kind has this form.
static Matrix backward_by_hand(const std::string& kind, Mat A, Mat dA, Mat capped) {
  Matrix g(A.shape()), dE(A.shape());
  for (int i = 0; i < A.rows; ++i) {
    double sum = 0, dot = 0;
    for (int j = 0; j < A.cols; ++j) {
      const double a = A(i, j);
      g(i, j) = Real(kind == "sigmoid" ? a * (1 - a) : kind == "sparsemax" ? a > 0 : kind == "entmax15" ? std::sqrt(a) : a);
      sum += g(i, j), dot += g(i, j) * dA(i, j);
    }
    const double m = kind == "sigmoid" ? 0 : kind == "sparsemax" || kind == "entmax15" ? dot / sum : dot;
    for (int j = 0; j < A.cols; ++j) dE(i, j) = Real(g(i, j) * (dA(i, j) - m) * (kind == "soft_cap" ? 1 - std::pow(capped(i, j), 2) : 1));
  }
  return dE;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "16");
  Tape& tape = page.tape;
  const std::string kind = page.options.variant;
  const Labels words = page.words();
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows, C = X.shape().cols;
  const Linear q(page.params, "_q", C, C, page.rng, Bias::no), k(page.params, "_k", C, C, page.rng, Bias::no);
  const std::unique_ptr<Variant> attend = make(kind, page.params, n, page.rng);
  page.settle(page.params);
  const Matrix z{{1, 0.8, 0.1, -1}};

  page.step("One row, seven ways", "z = 1  0.8  0.1  −1", "sigmoid: b = −ln 4. sink: s = 0, where it starts. soft cap: softmax(tanh z)");
  std::vector<Var> rows;
  for (const std::string& name : kKinds) rows.push_back(tape.constant(weights_of_scores(name, z), "row"));
  const Var seven = concat_rows(rows.data(), 7).named("weights");
  page.show_row_sums(seven, kKinds);
  const Matrix sums = by_hand::row_sums(seven.value());
  page.check("sparsemax: max(z − τ, 0) with τ = (1 + 0.8 − 1) / 2 = 0.4", {{rows[5].value(), Matrix{{0.6, 0.4, 0, 0}}}});
  page.check("softmax, cap, sparsemax, entmax mix: weights sum to 1", {{Matrix{{sums(0, 0), sums(4, 0), sums(5, 0), sums(6, 0)}}, Matrix{{1, 1, 1, 1}}}});
  page.check("sigmoid, off by one, sink do not: no convex combination", std::fabs(sums(1, 0) - 1) > 0.05 && sums(2, 0) < 0.9 && sums(3, 0) < 0.9);
  page.check("off by one is softmax with one more key, of score 0",
             {{rows[2].value(), weights_of_scores("softmax", {{1, 0.8, 0.1, -1, 0}}).view().block(0, 0, 1, 4)}});
  const double huge = std::exp(1000.0);
  page.check("so a score of 1000 gives 1; e^1000 / (1 + e^1000) is nan", std::isnan(huge / (1 + huge)) && weights_of_scores("off_by_one", {{1000}})(0, 0) == 1);

  page.step(attend->name(), "S = Q Kᵀ   E = S / √d   A = weights of E   Y = A V", "on words: Q = X W_q, K = X W_k, V = X");
  const Var Q = q(X).named("Q"), K = k(X).named("K"), Y = (*attend)(Q, K, X), E = tape.find("E"), A = tape.find("A");
  page.show({E}, words, words);
  page.show_row_sums(A, words, words);
  page.spell(A, 0, 0);
  page.show({Y}, words), page.label(Q, words), page.label(K, words), page.label(X, words);

  page.part("Back", "And back. They all send dE = g ∘ (dA − m), with one number m for each row.");
  page.step("Given", "dY = dL/dY", "random");
  page.backward(Y, page.random_seed(Y));
  page.show_gradient({Y});
  page.step("Into the scores", kind == "sigmoid" ? "g = A (1 − A)   m = 0" : kind == "sparsemax" ? "g = 1 where A > 0   m = mean of dA there" :
            kind == "entmax15" ? "g = √A   m = Σ g dA / Σ g" : kind == "soft_cap" ? "g = A (1 − tanh² E)   m = Σ A dA" : "g = A   m = Σ A dA");
  page.show_gradient({A});
  page.show_gradient({E});
  page.check("formula for dE", {{E.grad(), backward_by_hand(kind, A.value(), A.grad(), kind == "soft_cap" ? tape.find("E capped").value() : Mat{})}});
  page.step("Into Q, K and X", "dQ = dE K / √d   dK = dEᵀ Q / √d", "X makes Q and K, and is V: three parts add up");
  page.show_gradient({Q, K, X});
  for (const Param& p : page.params.all)
    if (p.name[0] != 'W') page.show_gradient({tape.find(p.name.c_str())});

  page.part("More", "Three things to know.");
  page.step("Cap, then mask", "tanh(−∞) = −1", "the row z, all keys hidden but the first");
  const Mask first = Mask::visible({true, false, false, false}, 1);
  const Var row = tape.constant(z, "z"), right = softmax(hide_pairs(tanh(row), &first)).named("cap, mask");
  const Var wrong = softmax(tanh(hide_pairs(row, &first))).named("mask, cap");
  page.show({right, wrong});
  page.check("cap after the mask: hidden keys get weight", right.value()(0, 0) == 1 && wrong.value()(0, 0) < 0.7);

  page.step("Who competes?", "z = 1  0.8  0.1  3", "the last score rises from −1 to 3; what happens to the first weight?");
  Matrix changed(Shape{7, 2});
  for (int i = 0; i < 7; ++i) changed(i, 0) = seven.value()(i, 0), changed(i, 1) = weights_of_scores(kKinds[i], {{1, 0.8, 0.1, 3}})(0, 0);
  page.show_matrix("A[0,0]", changed, kKinds, {"z3 = −1", "z3 = 3"});
  page.check("sigmoid: nothing; sparsemax, entmax: exactly 0", changed(1, 0) == changed(1, 1) && changed(5, 1) == 0 && changed(6, 1) == 0);

  page.step("A sink in the cache", "the first 2 keys, and the last 3", "an endless text, eight tokens of it, all scores 0. · = no longer in the cache");
  const Mask cache = streaming_mask(8, 8, 2, 3);
  page.show({softmax(hide_pairs(tape.constant(Matrix(Shape{8, 8}), "E"), &cache)).named("kept")});
  page.check("token 1000 finds 0, 1, 998, 999, 1000, at places 0 to 4", streaming_keys(1000, 2, 3) == std::vector<int>{0, 1, 998, 999, 1000});
  return page.done();
} catch (const std::exception& e) {
  return fail("16", e);
}
