// tutorials/11_masks.cpp: who may see whom. Before the softmax a score is kept, or replaced by −inf; nothing is ever added.
// Read first: 09_self_attention.   Next: 12_multi_head.   The layer: layers/attention/mask.h
#include "layers/attention/mask.h"

#include <cmath>
#include <limits>

#include "layers/attention/self_attention.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static const Real kInf = std::numeric_limits<Real>::infinity();

static Mask make_mask(const std::string& kind, int n) {
  std::vector<bool> keys(std::size_t(n), true);
  for (int j = 0; j < (n + 2) / 3; ++j) keys[std::size_t(kind == "padding" ? n - 1 - j : j)] = false;
  if (kind == "causal") return Mask::causal(n, n);
  if (kind == "padding") return Mask::visible(keys, n);                    // the last third of the words is no text
  if (kind == "both") return Mask::causal(n, n) & Mask::visible(keys, n);  // nor is the first third, and no future
  Mask others(n, n);
  for (int i = 0; i < n; ++i) others.set(i, i, false);                     // any pair can be hidden: here oneself
  return others;
}

static bool zero_where_hidden(Mat x, const Mask& allowed) {
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j)
      if (!allowed(i, j) && x(i, j) != 0) return false;
  return true;
}

static Mat row(Var x, int i) { return x.value().block(i, 0, 1, x.shape().cols); }

int main(int argc, char** argv) try {
  Page page(argc, argv, "11");
  Tape& tape = page.tape;
  const Var X = page.word_vectors("X");
  const Labels words = page.words();
  const int n = X.shape().rows, d = 3;
  SelfAttention layer(page.params, X.shape().cols, d, d, page.rng);
  page.settle(page.params);
  const Var Q = layer.q(X).named("Q"), K = layer.k(X).named("K"), V = layer.v(X).named("V");
  const Mask allowed = make_mask(page.options.variant, n);

  page.step("Scores", "E = Q Kᵀ / √d", "Q, K and V are made as in lesson 09: so far everyone meets everyone");
  page.label(Q, words), page.label(K, words), page.label(V, words);
  const Var E = scale(matmul_nt(Q, K).named("S"), 1 / std::sqrt(double(d))).named("E");
  page.show({E}, words, words);

  page.step("Mask", "E masked = allowed ? E : −inf", page.options.variant + ": a row asks, a column answers; −inf: may not be seen");
  const Var E_masked = mask(E, allowed.keep(), -kInf).named("E masked");
  page.show({E_masked}, words, words);

  page.step("Weights and output", "A = softmax(E masked)   Y = A V", "e^−inf = 0: a row shares its 1 among the keys that it may see");
  const Var A = softmax(E_masked).named("A"), Y = matmul(A, V).named("Y");
  page.show_row_sums(A, words, words);
  page.spell(A, n > 1 ? 1 : 0, 0);
  page.check("formula A = softmax(E masked)", {{A.value(), by_hand::softmax(E_masked.value())}});
  page.check("a hidden pair weighs exactly 0", zero_where_hidden(A.value(), allowed));
  page.show({V, Y}, words);

  page.part("Back", "And back. Hidden pairs send nothing, and no new rule is needed.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Through Y = A V", "dA = dY Vᵀ", "dY is given. Even a hidden pair has its dA: what a weight there WOULD do");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y, A});
  page.step("Through softmax and mask", "dE = A ∘ (dA − rowsum(A ∘ dA))", "the factor A is 0 where a pair is hidden");
  page.show_gradient({E});
  page.check("formula for dE", {{E.grad(), by_hand::softmax_backward(A.value(), A.grad())}});
  page.check("dE is exactly 0 at hidden pairs", zero_where_hidden(E.grad(), allowed));
  page.step("Into Q, K, V", "dQ = dE K / √d   dK = dEᵀ Q / √d   dV = Aᵀ dY", "the formulas of lesson 09");
  page.show_gradient({Q, K, V});
  Tape again;
  const Var q = again.input(Q.value(), "Q"), k = again.input(K.value(), "K"), v = again.input(V.value(), "V");
  const Var y = attention_fused(q, k, v, &allowed);
  again.backward(y, dY);
  page.check("the fused line with this mask: Y, dQ, dK, dV", {{y.value(), Y.value()}, {q.grad(), Q.grad()},
             {k.grad(), K.grad()}, {v.grad(), V.grad()}});

  page.part("More", "Six things that can go wrong. (--variant padding, both, others: other masks.)");
  const Mask causal = make_mask("causal", n), padding = make_mask("padding", n), both = make_mask("both", n);
  page.step("The future", "change the last word of X");
  Matrix changed(X.value());
  changed(n - 1, 0) += 1;
  const Var X2 = tape.constant(changed, "X2"), before = layer(X, &causal), after = layer(X2, &causal), open = layer(X);
  page.check("causal: the rows before it do not move, not by one bit",
             by_hand::same(before.value().block(0, 0, n - 1, d), after.value().block(0, 0, n - 1, d)));
  page.check("without a mask the first row moves", !by_hand::same(row(open, 0), row(layer(X2), 0)));
  page.step("Padding", "hide the last third of the words from everyone");
  Matrix junk_k(K.value()), junk_v(V.value());
  for (int c = 0; c < d; ++c) junk_k(n - 1, c) = junk_v(n - 1, c) = std::numeric_limits<Real>::quiet_NaN();
  const Var junk = attention_steps(Q, tape.constant(junk_k, "K"), tape.constant(junk_v, "V"), &padding);
  page.check("what a hidden key holds does not matter, not even NaN",
             by_hand::same(attention_steps(Q, K, V, &padding).value(), junk.value()));
  page.step("Both at once", "allowed = causal AND visible", "padding on the left: the first word sees nothing");
  Tape own;
  const Var Q2 = own.input(Q.value(), "Q"), Y_both = attention_steps(Q2, own.input(K.value(), "K"), own.input(V.value(), "V"), &both);
  own.backward(Y_both, dY);
  page.check("it gives zeros and gets zeros: Y and dQ", by_hand::norm(row(Y_both, 0)) == 0 && by_hand::norm(Q2.grad().block(0, 0, 1, d)) == 0);
  page.step("A large number", "E − 1e9 instead of −inf?", "right while a row sees something. The first row of \"both\" sees nothing:");
  Matrix fill(Shape{1, n}), add32(fill), add64(fill), ways(Shape{4, d});
  for (int j = 0; j < n; ++j) fill(0, j) = Real(-1e9), add32(0, j) = float(E.value()(0, j)) - 1e9f, add64(0, j) = E.value()(0, j) - 1e9;
  const Mat scores[] = {row(mask(E, both.keep(), -kInf), 0), fill, add32, add64}, mean = ways.view().block(1, 0, 1, d);
  for (int i = 0; i < 4; ++i) tape.be.copy(by_hand::product(by_hand::softmax(scores[i]), V.value()), ways.view().block(i, 0, 1, d));
  page.show_matrix("Y", ways, {"= −inf", "= −1e9", "E−1e9 float", "E−1e9 double"});
  page.check("the mean of all values, forbidden ones too", {{mean, by_hand::scaled(1.0 / n, by_hand::col_sums(V.value()))},
             {ways.view().block(2, 0, 1, d), mean}});
  page.check("or the row as if there were no mask", {{ways.view().block(3, 0, 1, d), row(open, 0)}}, 1e-6, About::doubles);
  page.step("0 · inf", "E + hidden · (−inf)?", "for a pair that is not hidden: 0 · (−inf) = " + page.measured(0 * -kInf));
  page.check("multiplying makes NaN where the score should stay", std::isnan(0 * -kInf));
  page.step("One query, many keys", "causal(1, n): the last meets the last", "one new word; the keys of the earlier ones were kept");
  const Mask last = Mask::causal(1, n);
  page.check("its row is the last row of the whole", {{attention_steps(tape.rows(Q, n - 1, 1), K, V, &last).value(), row(before, n - 1)}});
  page.check("counted from the first key, it would see only that one",
             {{attention_steps(tape.rows(Q, n - 1, 1), tape.rows(K, 0, 1), tape.rows(V, 0, 1)).value(), row(V, 0)}});
  return page.done();
} catch (const std::exception& e) {
  return fail("11", e);
}
