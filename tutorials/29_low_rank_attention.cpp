// tutorials/29_low_rank_attention.cpp: if the weights are nearly a product of thin matrices, compute only those. Two ways, and when it fails.
// Read first: 09_self_attention.   The layers: layers/attention/linformer.h, layers/attention/nystrom.h
#include <cmath>

#include "layers/attention/linformer.h"
#include "layers/attention/nystrom.h"
#include "layers/attention/self_attention.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static void linformer_in_full(Page& page, const Linformer& layer, Var Q, Var K, Var V) {  // --variant linformer, the default
  const Labels words = page.words();
  const double s = 1 / std::sqrt(double(Q.shape().cols));
  page.step("Mix the keys", "K_bar = E K   V_bar = F V", "E, F are learned, a column for each position; two slots replace the words");
  const Var E = page.tape.use(*layer.E[0]).named("E"), F = page.tape.use(*layer.F[0]).named("F");
  const Var K_bar = matmul(E, K).named("K_bar"), V_bar = matmul(F, V).named("V_bar");
  page.show({E, F}, {}, words);
  page.show({K_bar, V_bar});
  page.spell(K_bar, 0, 0);

  page.step("Attend to the slots", "A = softmax(Q K_barᵀ / √d)   Y = A V_bar", "no word meets a word; a slot is no word either");
  const Var A = softmax(scale(matmul_nt(Q, K_bar), s)).named("A"), Y = matmul(A, V_bar).named("Y");
  page.show({A, Y}, words);
  page.check("the layer gives the same", {{layer(Q, K, V).value(), Y.value()}});

  page.part("Back", "And back. (ok: nudging every number a little gives the same gradient.)");
  page.step("Through attention", "as in lesson 09, with K_bar and V_bar for K and V", "dY is random");
  page.backward(Y, page.random_seed(Y));
  page.show_gradient({A, Q});
  page.show_gradient({K_bar, V_bar});
  page.step("Through the mixing", "dE = dK_bar Kᵀ   dK = Eᵀ dK_bar   dF, dV alike");
  page.show_gradient({E, F});
  page.show_gradient({K, V});
  page.check("formulas for dE, dK, dF, dV", {{E.grad(), by_hand::product_nt(K_bar.grad(), K.value())}, {K.grad(), by_hand::product_tn(E.value(), K_bar.grad())},
             {F.grad(), by_hand::product_nt(V_bar.grad(), V.value())}, {V.grad(), by_hand::product_tn(F.value(), V_bar.grad())}});
}

static void nystrom_in_full(Page& page, int landmarks, Var Q, Var K, Var V) {  // --variant nystrom
  page.step("Landmarks", "q~, k~ = means of consecutive words", "q = Q / d^¼, k = K / d^¼, so that q·k is the usual score");
  const Var Y = NystromAttention(landmarks)(Q, K, V);
  const auto line = [&](const char* name) { return page.tape.find(name); };
  page.show({line("q~"), line("k~")});
  page.step("Three softmaxes", "F1 of q k~ᵀ   B of q~ k~ᵀ   F3 of q~ kᵀ", "words to landmarks, landmarks to landmarks, landmarks to words");
  page.show({line("F1")}, page.words());
  page.show({line("B")});
  page.show({line("F3")}, {}, page.words());
  page.step("The middle", "Z ← ¼ Z (13 I − T (15 I − T (7 I − T)))   T = B Z", "six times: Z comes near the pseudo-inverse of B");
  page.show({line("Z 0"), line("Z 1"), line("Z 6")});
  page.step("Output", "Y = F1 Z (F3 V)");
  page.show({Y}, page.words());
  page.part("Back", "And back, through all six steps.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Gradients", "dY is random");
  page.backward(Y, page.random_seed(Y));
  page.show_gradient({line("Z 6"), line("Z 0"), line("B")});
  page.show_gradient({Q, K, V});
}

static Matrix waves(double size, double a, double b, double c) {  // 6 x 4
  Matrix x(Shape{6, 4});
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 4; ++j) x(i, j) = Real(size * std::sin(a * i + b * j + c));
  return x;
}

// ‖B Z − I‖ after each of the first six steps, and after 20; then the condition of B.
static Matrix residuals(const Matrix& q, const Matrix& k) {
  Tape tape;
  NystromAttention(3, 20)(tape.constant(q, "Q"), tape.constant(k, "K"), tape.constant(k, "V"));
  const Mat B = tape.find("B").value();
  Matrix all(Shape{1, 8});
  int at = 0;
  for (const char* Z : {"Z 1", "Z 2", "Z 3", "Z 4", "Z 5", "Z 6", "Z 20"})
    all(0, at++) = by_hand::norm(by_hand::sum(by_hand::product(B, tape.find(Z).value()), Matrix{{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}));
  all(0, 7) = by_hand::singular_values(B)(0, 0) / by_hand::singular_values(B)(0, 2);
  return all;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "29");
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows;
  SelfAttention layer(page.params, X.shape().cols, 3, 3, page.rng);
  Linformer linformer(page.params, "", 2, n, page.rng);
  page.settle(page.params);
  page.step("Given", "Q = X W_q   K = X W_k   V = X W_v", "the queries, keys and values of lesson 09");
  const Var Q = layer.q(X).named("Q"), K = layer.k(X).named("K"), V = layer.v(X).named("V");
  page.show({Q, K, V}, page.words());
  page.options.variant == "linformer" ? linformer_in_full(page, linformer, Q, K, V) : nystrom_in_full(page, 3, Q, K, V);

  page.part("More", "When is that enough?");
  page.step("Singular values", "the best product with k slots misses the (k+1)-th", "of 8 x 8 weights, for random scores times 1/4, 1, 4 and 16");
  Rng rng(1);
  Matrix E(Shape{8, 8}), table(Shape{4, 8}), steps(Shape{2, 7});
  for (int i = 0; i < 64; ++i) E(i / 8, i % 8) = Real(rng.normal());
  for (int row = 0; row < 4; ++row) {
    const Matrix values = by_hand::singular_values(by_hand::softmax(by_hand::scaled(std::pow(4.0, row - 1), E)));
    for (int j = 0; j < 8; ++j) table(row, j) = values(0, j);
  }
  page.show_matrix("singular values", table, {"1/4", "1", "4", "16"});
  page.check("small scores: one slot is nearly enough", table(0, 1) < 0.15 * table(0, 0));
  page.check("large scores: four of eight are far from enough", table(3, 4) > 0.9);
  page.step("Nyström's middle", "‖B Z − I‖ after 1 to 6 steps, and after 20", "two sets of 3 landmarks: the condition of B is 3.3, and 2008");
  const Matrix x = waves(2, 0.4, 2, 0.1), good = residuals(x, x), bad = residuals(waves(1, 3, 1, 0), waves(1, 2, -1, std::acos(0.0)));
  for (int j = 0; j < 7; ++j) steps(0, j) = good(0, j), steps(1, j) = bad(0, j);
  page.show_matrix("residual", steps, {"good", "bad"}, {"1", "2", "3", "4", "5", "6", "20"});
  page.check("the conditions are 3.32217 and 2007.76", {{good.view().block(0, 7, 1, 1), Matrix{{3.32216738169}}}, {bad.view().block(0, 7, 1, 1), Matrix{{2007.76306863}}}});
  page.check("well-conditioned: six steps are enough", good(0, 5) < 1e-12, About::doubles);
  page.check("ill-conditioned: six have hardly begun, twenty are enough", bad(0, 5) > 1 && bad(0, 6) < 1e-6, About::doubles);
  page.step("Exact limits", "as many slots, or landmarks, as words", "then both are softmax attention");
  ParamStore store;
  const Linformer all(store, "", 4, 4, rng, Sharing::key_value);
  all.E[0]->set(Matrix{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});
  const Var four = page.tape.constant(x.view().block(0, 0, 4, 4), "x"), exact = attention_steps(four, four, four);
  page.check("Linformer with E = F = I", {{all(four, four, four).value(), exact.value()}});
  page.check("Nyström with each word a landmark, twenty steps", {{NystromAttention(4, 20)(four, four, four).value(), exact.value()}});
  return page.done();
} catch (const std::exception& e) {
  return fail("29", e);
}
