// tutorials/10_scaling.cpp: how large is a score? Why 1/√d, what it does not promise, and what keeps scores in bounds.
// Read first: 09_self_attention.   Next: see the end of the output.   The layers: layers/attention/qk_norm.h
#include <algorithm>
#include <cmath>
#include <memory>

#include "layers/attention/qk_norm.h"
#include "layers/linear.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static Matrix random_matrix(Shape s, Init init, Rng& rng) { return ParamStore().make("", s, init, rng).value; }
static Matrix normals(Shape s, Rng& rng) { return random_matrix(s, Init::normal, rng); }
static double mean_square(Mat x) { return std::pow(by_hand::norm(x), 2) / (x.rows * x.cols); }  // the variance, if the mean is 0

// Six random queries, keys and values, E = s Q Kᵀ, 21 times. Medians of: the mean of the largest weights, four norms.
static void saturate(double s, Rng rng, Mat medians) {
  std::vector<double> all[5];
  for (int draw = 0; draw < 21; ++draw) {
    Tape tape;
    const Var Q = tape.input(normals({6, 64}, rng), "Q"), K = tape.input(normals({6, 64}, rng), "K"), V = tape.input(normals({6, 4}, rng), "V");
    const Var E = scaled_scores(Q, K, s), A = softmax(E), lines[] = {E, Q, K, V};
    all[0].push_back(mean(row_max(A)).value()(0, 0));
    tape.backward(matmul(A, V), normals({6, 4}, rng));
    for (int k = 0; k < 4; ++k) all[1 + k].push_back(by_hand::norm(lines[k].grad()));
  }
  for (int k = 0; k < 5; ++k) std::sort(all[k].begin(), all[k].end()), medians(0, k) = Real(all[k][10]);
}

static std::unique_ptr<Variant> make(const std::string& kind, ParamStore& store, int d, int n, Rng& rng) {
  if (kind == "plain") return std::make_unique<Plain>();
  if (kind == "layer") return std::make_unique<LayerQkNorm>(store, "", d, rng, 1e-12);
  if (kind == "l2") return std::make_unique<L2QkNorm>(store, "", std::max(n, 2), rng);
  if (kind == "cosine") return std::make_unique<CosineAttention>(store, "", 1, rng);
  if (kind == "temperature") return std::make_unique<LearnedTemperature>(store, "", d, rng);
  return std::make_unique<RmsQkNorm>(store, "", d, rng, 1e-12);  // eps: as good as none
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "10");
  const Var X = page.word_vectors("X");
  const Labels words = page.words();
  const int n = X.shape().rows, d = X.shape().cols;
  const std::unique_ptr<Variant> attend = make(page.options.variant, page.params, d, n, page.rng);
  const Linear q(page.params, "_q", d, d, page.rng, Bias::no), k(page.params, "_k", d, d, page.rng, Bias::no);
  page.settle(page.params);
  Rng rng(page.seed());
  Matrix sizes(Shape{4, 4}), dead(Shape{4, 5}), bounds(Shape{6, 2});

  page.step("The size of q · k", "q · k = Σ_c q_c k_c", "2000 random pairs; each component has mean 0 and variance 1");
  bool as_d = true;
  for (int draw = 0; draw < 12; ++draw) {
    const int i = draw % 4, widths[] = {4, 16, 64, 256}, width = widths[i];
    Tape other;
    const Var a = other.constant(normals({2000, width}, rng), "q"), b = other.constant(normals({2000, width}, rng), "k");
    const double v = mean_square(row_sum(mul(a, b)).value());
    sizes(i, 0) = Real(v), sizes(i, 1) = Real(v / width), sizes(i, 2) = Real(std::sqrt(v)), sizes(i, 3) = Real(std::sqrt(v / width));
    as_d = as_d && std::fabs(sizes(i, 1) - 1) < 0.2 && std::fabs(sizes(i, 3) - 1) < 0.1;
  }
  page.show_matrix("variance and deviation of q · k", sizes, {"d = 4", "d = 16", "d = 64", "d = 256"}, {"var", "var / d", "dev", "dev/√d"});
  page.check("three times each: variance d ± 20%, deviation √d ± 10%", as_d);
  page.check("only an aligned pair reaches d: q · q is d ± 10%", std::fabs(mean_square(normals({100, 64}, rng)) - 1) < 0.1);

  page.step("Where variance 1 comes from", "Q = X W_q   Var(Q) = 2C / (C + d)", "X has variance 1, W_q is drawn by Xavier; C = 64, d = 16");
  const Matrix W_q = random_matrix({64, 16}, Init::xavier, rng), W_k = random_matrix({64, 16}, Init::xavier, rng);
  const Matrix Q0 = by_hand::product(normals({200, 64}, rng), W_q), K0 = by_hand::product(normals({200, 64}, rng), W_k);
  const double before = std::sqrt(mean_square(by_hand::product_nt(Q0, K0)) / 16);
  const double after = std::sqrt(mean_square(by_hand::product_nt(by_hand::scaled(3, Q0), by_hand::scaled(3, K0))) / 16);
  page.say("   Var(Q) is " + page.measured(mean_square(Q0)) + ", the deviation of E = Q Kᵀ / √d is " + page.measured(before) +
           ". Should W_q and W_k become three times as large, it is " + page.measured(after) + ".");
  page.check("Var(Q) is 1.6 ± 20%, and so is the deviation of E", std::fabs(mean_square(Q0) / 1.6 - 1) < 0.2 && std::fabs(before / 1.6 - 1) < 0.2);
  page.check("weights × 3, scores × 9: 1/√d is a constant", after / before, 9);

  page.step("Too large", "E = s Q Kᵀ", "six keys, d = 64; s = 1/√d, then none, then larger; medians of 21 draws");
  for (int i = 0; i < 4; ++i) saturate(std::pow(8, i - 1), rng, dead.view().block(i, 0, 1, 5));
  page.show_matrix("the largest A of a row, and norms", dead, {"s = 1/8", "s = 1", "s = 8", "s = 64"}, {"max A", "dE", "dQ", "dK", "dV"});
  page.say("   A decided row sends nothing back to its scores. The rare undecided row sends s times as much: dQ and dK grow, then die.");
  page.check("dE shrinks without 1/√d; in the end dQ and dK are dead", dead(1, 1) < 0.8 * dead(0, 1) && dead(3, 2) < 1e-3 && dead(3, 3) < 1e-3);
  page.check("dV = Aᵀ dY is not dead: larger than with 1/√d", dead(3, 4) > dead(0, 4));

  page.part("Mend", "What helps, whatever training does: to norm the queries and the keys.");
  const Var Q = q(X).named("Q"), K = k(X).named("K"), Y = (*attend)(Q, K, X), E = page.tape.find("E");
  const bool normed = page.options.variant != "temperature";
  const Var Qhat = normed ? page.tape.find("Qhat") : Q, Khat = normed ? page.tape.find("Khat") : K;
  page.step("Long and short rows", "Q = X W_q   K = X W_k", "the values are the words themselves: V = X");
  page.show({Q, K}, words);
  page.step(attend->name(), normed ? "Qhat, Khat: all rows of one length" : "E = e^t Q Kᵀ", "then scores E and weights A as ever");
  if (normed) page.show({Qhat, Khat}, words);
  page.show({E}, words, words);
  page.spell(E, 0, 0);
  page.show_row_sums(page.tape.find("A"), words, words);

  page.step("Back", "through the softmax, as in lesson 09, and through the norm", "dY is given, here at random");
  page.label(Y, words);
  page.backward(Y, page.random_seed(Y));
  page.show_gradient({Y});
  if (normed) page.show_gradient({E, Qhat, Khat, Q, K, X});
  if (!normed) page.show_gradient({E, Q, K, X});
  for (const Param& p : page.params.all)
    if (p.name[0] != 'W') page.show_gradient({page.tape.find(p.name.c_str())});
  const Var along = row_sum(mul(Q, page.tape.constant(Q.grad(), "dQ")));
  if (normed) page.check("dQ · Q = 0 in every row: its length does not count", {{along.value(), Matrix(Shape{n, 1})}}, 1e-7);

  page.step("Its siblings", "the largest |E|, for Q and K, and for 10 Q and 10 K");
  const Labels kinds = {"plain", "rms", "layer", "l2", "cosine", "temperature"};
  for (int i = 0; i < 12; ++i) {
    Tape other;
    ParamStore store;
    const Var q10 = other.constant(by_hand::scaled(i % 2 ? 10 : 1, Q.value()), "Q"), k10 = other.constant(by_hand::scaled(i % 2 ? 10 : 1, K.value()), "K");
    (*make(kinds[i / 2], store, d, n, rng))(q10, k10, k10);
    bounds(i / 2, i % 2) = max(abs(other.find("E"))).value()(0, 0);
  }
  page.show_matrix("max |E|", bounds, kinds, {"Q, K", "10 Q, K"});
  page.check("normed: the same for both", {{bounds.view().block(1, 0, 4, 1), bounds.view().block(1, 1, 4, 1)}}, 1e-7);
  page.check("not normed: × 100, also with a learned temperature", {{Matrix{{bounds(0, 1), bounds(5, 1)}}, Matrix{{100 * bounds(0, 0), 100 * bounds(5, 0)}}}});
  return page.done();
} catch (const std::exception& e) {
  return fail("10", e);
}
