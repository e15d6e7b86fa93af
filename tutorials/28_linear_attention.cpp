// tutorials/28_linear_attention.cpp: the softmax is replaced by a product of features, so that the cost grows like n and not like n².
// Read first: 09_self_attention.   The layers: layers/attention/linear_attention.h, performer.h, efficient.h, hybrid.h
#include <cmath>

#include "layers/attention/efficient.h"
#include "layers/attention/hybrid.h"
#include "layers/attention/performer.h"
#include "layers/attention/self_attention.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static void linear_in_full(Page& page, Var Q, Var K, Var V, Var one) {  // --variant linear, the default; one: a column of ones
  const int n = Q.shape().rows, d_v = V.shape().cols;
  page.step("Features", "a = φ(Q)   b = φ(K)   φ(x) = x + 1 for x > 0, else e^x", "every entry by itself; all are positive, so all weights will be");
  const Var a = elu_plus_one(Q).named("a"), b = elu_plus_one(K).named("b");
  page.show({a, b}, page.words());
  page.step("By pairs", "W = a bᵀ   A = W / (rowsum W + ε)   Y = A V", "the definition: a·b where softmax has e^(q·k/√d); ε = 1e-6");
  const Var W = matmul_nt(a, b).named("W"), A = div_col(W, add_number(row_sum(W), 1e-6)).named("A"), by_pairs = matmul(A, V);
  page.show_row_sums(A, page.words(), page.words());
  page.step("Regrouped", "S = bᵀ V   z = bᵀ 1   num = a S   den = a z + ε   Y = num / den", "(a bᵀ) V = a (bᵀ V): no n x n matrix; S and z serve every query");
  const Var S = matmul_tn(b, V).named("S"), z = matmul_tn(b, one).named("z");
  page.show({S, z});
  const Var num = matmul(a, S).named("num"), den = add_number(matmul(a, z), 1e-6).named("den"), Y = div_col(num, den).named("Y");
  page.show({num, den, Y}, page.words());
  page.spell(num, 0, 0);
  page.check("regrouped = by pairs", {{Y.value(), by_pairs.value()}, {Y.value(), LinearAttention()(Q, K, V).value()}});
  page.step("Causal", "S_t = S_(t-1) + b_t v_tᵀ   z_t = z_(t-1) + b_t", "word after word: a recurrent network whose state is S and z");
  const Mask causal = Mask::causal(n, n);
  const Var past = LinearAttention()(Q, K, V, {.allowed = &causal}).named("Y_causal");
  LinearState state(page.tape, Q.shape().cols, d_v);
  std::vector<Var> rows;
  for (int t = 0; t < n; ++t) rows.push_back(state(page.tape.rows(Q, t, 1), page.tape.rows(K, t, 1), page.tape.rows(V, t, 1)));
  page.show({past}, page.words());
  page.check("running sums = pairs with a causal mask", {{past.value(), LinearAttention(LinearForm::quadratic)(Q, K, V, {.allowed = &causal}).value()}});
  page.check("one word at a time, a state of fixed size = the same", {{concat_rows(rows.data(), n).value(), past.value()}});
  page.check("the last row sees all: it is that of Y", {{past.value().block(n - 1, 0, 1, d_v), Y.value().block(n - 1, 0, 1, d_v)}});
  page.part("Back", "And back through the regrouped form, where no query meets a key.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Through the division", "dnum = dY / den   dden = −rowsum(dY ∘ Y) / den", "dY is random");
  page.backward(Y, page.random_seed(Y));
  page.show_gradient({num, den});
  page.step("Into the sums", "dS = aᵀ dnum   dz = aᵀ dden", "every query sends its part");
  page.show_gradient({S, z});
  page.step("Into features", "da = dnum Sᵀ + dden zᵀ   db = V dSᵀ + 1 dzᵀ   dV = b dS");
  page.show_gradient({a, b, V});
  page.check("formulas for da, db, dV", {{a.grad(), by_hand::sum(by_hand::product_nt(num.grad(), S.value()), by_hand::product_nt(den.grad(), z.value()))},
             {b.grad(), by_hand::sum(by_hand::product_nt(V.value(), S.grad()), by_hand::product_nt(one.value(), z.grad()))}, {V.grad(), by_hand::product(b.value(), S.grad())}});
  page.step("Through φ", "dQ = da ∘ φ'(Q)   dK = db ∘ φ'(K)", "φ'(x) is 1 for x > 0, else e^x");
  page.show_gradient({Q, K});
}

// The other variants: the named lines that the layer records, the first few of them shared by all words, and their gradients.
static void in_full(Page& page, const Variant& variant, Var Q, Var K, Var V, const char* formula, std::size_t shared, const std::vector<const char*>& names) {
  page.step(variant.name(), formula, "the lines that the layer records");
  const Var Y = variant(Q, K, V);
  for (std::size_t i = 0; i < names.size(); ++i) page.show({page.tape.find(names[i])}, i < shared ? Labels() : page.words());
  page.part("Back", "And back, from the last line to the first, for a random dY.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Gradients", "dY, then all that it reaches");
  page.backward(Y, page.random_seed(Y));
  for (std::size_t i = names.size(); i-- > 0;)
    if (page.tape.find(names[i]).has_grad()) page.show_gradient({page.tape.find(names[i])});
  page.show_gradient({Q, K, V});
}

static double error_of(Draw draw, int M) {  // mean |Y - softmax attention| over 20 draws, for short queries and keys
  Rng rng(1);
  double sum = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Matrix q(Shape{5, 4}), k(q.shape()), v(q.shape());
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 4; ++j) q(i, j) = std::sin(3 * i + j), k(i, j) = std::cos(2 * i - j), v(i, j) = std::sin(i + 2 * j + 0.5);
    Tape tape;
    const Var Q = tape.constant(q, "Q"), K = tape.constant(k, "K"), V = tape.constant(v, "V");
    const Mat exact = attention_steps(Q, K, V).value(), Y = Performer(random_features(draw, M, 4, rng))(Q, K, V).value();
    for (int i = 0; i < 20; ++i) sum += std::fabs(Y(i / 4, i % 4) - exact(i / 4, i % 4)) / 400;
  }
  return sum;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "28");
  const Var X = page.word_vectors("X");
  SelfAttention layer(page.params, X.shape().cols, 3, 3, page.rng);
  page.settle(page.params);
  page.step("Given", "Q = X W_q + 0.005   K = X W_k + 0.005   V = X W_v", "as in lesson 09; 0.005 because the curvature of φ, below, jumps at exactly 0");
  const Var Q = add_number(layer.q(X), 0.005).named("Q"), K = add_number(layer.k(X), 0.005).named("K"), V = layer.v(X).named("V");
  page.show({Q, K, V}, page.words());
  const int n = Q.shape().rows, d = Q.shape().cols;
  Matrix ones(Shape{n, 1}), errors(Shape{3, 3});
  page.tape.be.fill(ones, 1);
  const Var one = page.tape.constant(ones, "1");
  if (page.options.variant == "linear") linear_in_full(page, Q, K, V, one);
  const Performer performer(random_features(Draw::orthogonal, 6, d, page.rng), LinearForm::quadratic);
  if (page.options.variant == "performer") in_full(page, performer, Q, K, V, "φ(x)_r = exp(w_r·x − |x|²/2) / √M, x = q / d^¼", 1, {"w", "a", "b", "A", "Y"});
  if (page.options.variant == "efficient") in_full(page, EfficientAttention(), Q, K, V, "R = softmax(Q)   M = softmax(Kᵀ)   C = M V   Y = R C", 2, {"M", "C", "R", "Y"});
  if (page.options.variant == "hybrid") in_full(page, HybridAttention(2), Q, K, V, "W_ij = e^(q_i·k_j/√d) for |i − j| < 2, else a_i·b_j", 0, {"E", "a", "b", "W", "A", "Y"});
  page.part("More", "What this is not, and three relatives.");
  const Var Y_softmax = attention_steps(Q, K, V), two = page.tape.constant(Matrix{{2, 0}, {0, 2}}, "2 I"), eye = scale(two, 0.5), garbled = softmax(scale(matmul(Q, matmul_tn(K, V)), 1.0 / d));
  page.step("Not softmax", "φ replaces e^(q·k/√d); it does not factor it", "the query 2 0 and the keys 2 0 and 0 2 get other weights");
  page.check("0.944 and 0.056 by softmax, 0.625 and 0.375 by φ", {{attention_steps(two, two, eye).value(), Matrix{{0.9442, 0.0558}, {0.0558, 0.9442}}},
             {LinearAttention()(two, two, eye).value(), Matrix{{0.625, 0.375}, {0.375, 0.625}}}}, 1e-4);
  const Var without = matmul(elu_plus_one(Q), matmul_tn(elu_plus_one(K), one)), with = LinearAttention(LinearForm::sums, 0)(Q, K, one);
  page.check("values that are all 1 give 1; without den they do not", by_hand::apart(with.value(), ones) < page.rounding() && by_hand::apart(without.value(), ones) > 0.01);
  page.step("Not this either", "softmax(Q (Kᵀ V) / d)", "widely copied; its softmax runs over the channels of the values");
  page.show({page.tape.rows(garbled, 0, 1).named("garbled")}, {page.words()[0]});
  page.check("each row sums to 1 whatever the values are: no attention", {{by_hand::row_sums(garbled.value()), ones}});
  page.step("Performer", "random features w_1 ... w_M; φ(x)·φ(y) = e^(x·y) on average", "mean |error| against softmax; rows: how the w_r are drawn");
  for (int i = 0; i < 9; ++i) errors(i / 3, i % 3) = error_of(Draw(i / 3), 16 << 4 * (i % 3));
  page.show_matrix("errors", errors, {"independent", "orthogonal", "raw QR"}, {"M = 16", "256", "4096"});
  page.check("16 times the features: less than half the error", errors(0, 1) < errors(0, 0) / 2 && errors(1, 1) < errors(1, 0) / 2);
  page.check("raw QR is biased: its error stops falling", errors(2, 2) > errors(2, 1) / 2 && errors(2, 2) > 3 * errors(1, 2));
  page.step("Efficient", "Y = softmax(Q) (softmax(Kᵀ) V)", "over the channels of each query, over the positions of each channel");
  page.check("its weights, never made, have rows that sum to 1", {{by_hand::row_sums(matmul(softmax(Q), softmax(transpose(K))).value()), ones}});
  page.step("Hybrid", "e^(q·k/√d) for near keys, a·b for the others, one division");
  page.check("a window over everything: softmax attention", {{HybridAttention(n)(Q, K, V).value(), Y_softmax.value()}});
  page.check("a window of nothing: linear attention", {{HybridAttention(0)(Q, K, V).value(), LinearAttention(LinearForm::sums, 0)(Q, K, V).value()}});
  return page.done();
} catch (const std::exception& e) {
  return fail("28", e);
}
