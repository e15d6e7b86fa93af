// tutorials/26_sparse_attention.cpp: most pairs are left out, and what is left out is not computed.
// Read first: 09_self_attention.   Next: see the end of the output.   The layer: layers/attention/sparse.h
#include "layers/attention/sparse.h"

#include <cmath>

#include "layers/attention/self_attention.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static const Sparse& chosen(const std::string& name) {
  for (const Sparse* sparse : sparse_patterns())
    if (name == sparse->name()) return *sparse;
  return *sparse_patterns()[0];
}

static void put_at(std::string& line, std::size_t column, const std::string& text) { line.resize(column, ' '), line += text; }

struct Named {
  const char* name;
  KeyLists lists;
  long pairs;  // how many there should be
};
static void pictures(Page& page, const std::vector<Named>& patterns) {  // side by side
  std::string names, counts, lines[16];
  std::size_t column = 0;
  bool right = true;
  for (const Named& p : patterns) {
    put_at(names, column, p.name);
    put_at(counts, column, page.measured(double(p.lists.pairs())) + " pairs");
    for (std::size_t i = 0; i < 16; ++i) put_at(lines[i], column, p.lists.picture()[i]);
    right = right && p.lists.pairs() == p.pairs;
    column += 19;
  }
  page.say("  " + names + "\n  " + counts);
  for (const std::string& line : lines) page.say("  " + line);
  page.check("as many pairs as the rules give on paper", right);
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "26");
  const Labels words = page.words();
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows, C = X.shape().cols, d = 3;
  const SelfAttention layer(page.params, C, d, d, page.rng);
  page.settle(page.params);
  const Sparse& sparse = chosen(page.options.variant);
  const KeyLists allowed = sparse.pattern(n, n);
  page.step("Who may use whom", std::string("pattern: ") + sparse.name(), "each query (first word) has a list of keys");
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string line = "   " + words[i] + ":";
    for (const int j : allowed.of[i]) line += " " + words[std::size_t(j)];
    page.say(line);
  }
  page.say("   " + page.measured(double(allowed.pairs())) + " pairs of " + page.measured(n * n) + ".");
  page.step("Queries, keys, values", "Q = X W_q   K = X W_k   V = X W_v", "as in lesson 09");
  const Var Q = layer.q(X).named("Q"), K = layer.k(X).named("K"), V = layer.v(X).named("V");
  page.show({Q, K, V}, words);
  page.step("Weights", "A_ij = exp(E_ij) / Σ_l exp(E_il)   E = Q Kᵀ / √d", "l: the keys that i may use. First the dense way: hidden pairs score −inf");
  const Mask mask = allowed.mask();
  const Var Y = attention_steps(Q, K, V, &mask), A = page.tape.find("A"), E = page.tape.find("E");
  page.label(E, words, words);
  page.show_row_sums(A, words, words);
  page.spell(A, 0, 0);
  page.step("Output", "Y_i = Σ_j A_ij V_j", "then the sparse way: along the lists, and no other pair is computed");
  page.show({Y}, words);
  Tape other;
  const Var Q2 = other.input(Q.value(), "Q"), K2 = other.input(K.value(), "K"), V2 = other.input(V.value(), "V");
  const Var Y2 = sparse_attention(Q2, K2, V2, allowed);
  page.check("sparse_attention: the same Y", {{Y2.value(), Y.value()}});
  page.part("Back", "And back. A weight of 0 sends nothing, so the lists are enough here, too.");
  page.step("Through the softmax", "dA = dY Vᵀ   dE = A ∘ (dA − rowsum(A ∘ dA))");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({E, Y});
  page.spell_gradient(page.tape.find("E masked"), 0, 0);
  page.check("formula for dE", {{E.grad(), by_hand::softmax_backward(A.value(), by_hand::product_nt(dY, V.value()))}});
  page.step("Into all three", "dQ = dE K / √d   dK = dEᵀ Q / √d   dV = Aᵀ dY");
  page.show_gradient({Q, K, V});
  other.backward(Y2, dY);
  page.check("sparse_attention: the same dQ, dK, dV", {{Q2.grad(), Q.grad()}, {K2.grad(), K.grad()}, {V2.grad(), V.grad()}});
  page.part("Patterns", "Patterns of the literature, for 16 tokens: # a pair, . none.");
  const KeyLists near = strided_near(16, 16, 4), far = strided_far(16, 16, 4), summary = fixed_far(16, 16, 4, 1), fixed = fixed_near(16, 16, 4) | summary;
  const KeyLists once = causal_window(16, 16, 4), thrice = two_hops(once, two_hops(once, once)), every(Mask::causal(16, 16));
  page.step("Both ways", "2 on each side · every 3rd · token 0 for all · Big Bird", "Big Bird: # is a block; first and last for all, 3 near, 1 random");
  pictures(page, {{"window 4", window(16, 16, 4), 74}, {"dilated 4, gap 3", dilated_window(16, 16, 4, 3), 62},
                  {"window + global", window(16, 16, 4) | global_tokens(16, 16, {0}), 100}, {"blocks", bigbird(16, 1, page.seed()), 114}});
  page.step("Causal", "itself, 3 before · every 4th, too · stretches of 4");
  pictures(page, {{"causal window 4", once, 58}, {"strided 4", near | far, 82}, {"fixed 4", fixed, 64}, {"fixed 4, far only", summary, 28}});
  page.check("strided, far after near: two layers reach all before", two_hops(far, near) == every);
  page.check("fixed, twice: two layers reach all before", two_hops(fixed, fixed) == every);
  page.check("3 layers of causal window 4 reach 3·(4 − 1) back", 15 - thrice.of[15].front(), 9);

  page.part("More", "Five things to know.");
  page.step("What it costs", "pairs for 1024 tokens / pairs for 256 tokens", "dense: 16 times as many; the stride is √n");
  const double by_window = double(window(1024, 1024, 8).pairs()) / double(window(256, 256, 8).pairs());
  const double by_stride = double((strided_near(1024, 1024, 32) | strided_far(1024, 1024, 32)).pairs()) / double((strided_near(256, 256, 16) | strided_far(256, 256, 16)).pairs());
  page.say("   window: " + page.measured(by_window) + ", strided: " + page.measured(by_stride) + ".");
  page.check("a window grows like n, strided like n √n", std::fabs(by_window - 4) < 0.1 && std::fabs(by_stride - 8) < 0.3);
  page.step("A formula to distrust", "exp(Q_i · K_j) / √d", "often copied: no row sum, and √d outside the exponential");
  double sum = 0;
  for (const int j : allowed.of.back()) sum += std::exp(by_hand::product_nt(Q.value(), K.value())(n - 1, j)) / std::sqrt(double(d));
  page.say("   The last row of such weights sums to " + page.measured(sum) + ".");
  page.check("the copied formula: its rows do not sum to 1", std::fabs(sum - 1) > 1e-3);
  page.step("An empty list", "fixed 4, far only: the first three have none");
  page.check("their rows are exactly 0, not a mean", {{sparse_attention(Q2, K2, V2, fixed_far(n, n, 4, 1)).value().block(0, 0, 1, d), Matrix(Shape{1, d})}});
  page.step("Left out is not touched", "key and value 0 are nan; a window of 1");
  Tape bad;
  bad.watch_nonfinite = false;
  const Matrix nans(K.value());
  for (int c = 0; c < d; ++c) nans(0, c) = Real(NAN);
  const Var k = bad.constant(nans, "K"), y = sparse_attention(bad.constant(Q.value(), "Q"), k, k, causal_window(n, n, 1));
  page.check("all other rows are as they were", {{y.value().block(1, 0, n - 1, d), K.value().block(1, 0, n - 1, d)}});
  page.step("Longformer", "global queries have W_q, W_k, W_v of their own", "ordinary ones see the global keys through the ordinary W");
  page.check("with copies: one softmax over window and global keys", {{Longformer()(Q, K, V, Q, K, V).value(), sparse_attention(Q, K, V, SparseGlobal().pattern(n, n)).value()}});
  return page.done();
} catch (const std::exception& e) {
  return fail("26", e);
}
