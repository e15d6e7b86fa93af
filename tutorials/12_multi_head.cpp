// tutorials/12_multi_head.cpp: several heads side by side. Each is lesson 09 on its own columns, and nothing is copied.
// Read first: 11_masks.   Next: see the end of the output.   The layer: layers/attention/multi_head.h
#include "layers/attention/multi_head.h"

#include <cmath>

#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static Mat cols(Mat x, int first, int n) { return x.block(0, first, x.rows, n); }

static void add_to(Mat sum, Mat part) {
  for (int i = 0; i < sum.rows; ++i)
    for (int j = 0; j < sum.cols; ++j) sum(i, j) += part(i, j);
}

// The layer against one attention per head: its columns of W_q, W_k, W_v, its rows of W_o. The outputs add up, and so do
// the gradients of weights that heads share.
static void compare(Page& page, const char* claim, ParamStore& store, const MultiHeadAttention& layer, Mat x, Mat dY) {
  const int C = x.cols, h = layer.heads, d = C / h, share = h / layer.kv_heads;
  store.zero_grad();
  Tape whole, apart;
  const Var X = whole.input(x, "X"), Y = layer(X);
  whole.backward(Y, dY);
  const Var x2 = apart.input(x, "X");
  Var y;
  std::vector<Var> W;
  for (int a = 0; a < h; ++a) {
    for (const Linear* l : {&layer.q, &layer.k, &layer.v}) W.push_back(apart.input(cols(l->W->value, (l == &layer.q ? a : a / share) * d, d), "W"));
    W.push_back(apart.input(layer.o.W->value.view().block(a * d, 0, d, C), "W_o"));
    const Var* w = &W[std::size_t(4 * a)];
    const Var part = matmul(attention_steps(matmul(x2, w[0]), matmul(x2, w[1]), matmul(x2, w[2])), w[3]);
    y = a ? add(y, part) : part;
  }
  apart.backward(y, dY);
  Matrix dq(layer.q.W->value.shape()), dk(layer.k.W->value.shape()), dv(dk.shape()), d_o(dq.shape());
  for (int a = 0; a < h; ++a) {
    const Mat parts[] = {cols(dq, a * d, d), cols(dk, a / share * d, d), cols(dv, a / share * d, d), d_o.view().block(a * d, 0, d, C)};
    for (int i = 0; i < 4; ++i) add_to(parts[i], W[std::size_t(4 * a + i)].grad());
  }
  page.check(claim, {{Y.value(), y.value()}, {X.grad(), x2.grad()}, {layer.q.W->grad, dq},
             {layer.k.W->grad, dk}, {layer.v.W->grad, dv}, {layer.o.W->grad, d_o}});
}

// A new layer, its numbers drawn by chance; returns how many they are.
static double try_heads(Page& page, const char* claim, int h, int kv_heads, Mat x, Mat dY) {
  ParamStore store;
  const MultiHeadAttention layer(store, "", x.cols, h, page.rng, Bias::no, kv_heads);
  compare(page, claim, store, layer, x, dY);
  double numbers = 0;
  for (const Param& p : store.all) numbers += double(count(p.value.shape()));
  return numbers;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "12");
  Tape& tape = page.tape;
  const Var X = page.word_vectors("X");
  const Labels words = page.words();
  const int C = X.shape().cols, h = page.options.variant == "grouped" ? 4 : 2, kv_heads = page.options.variant == "multi-head" ? h : h / 2;
  const MultiHeadAttention layer(page.params, "", C, h, page.rng, Bias::no, kv_heads);
  page.settle(page.params);
  const int n = X.shape().rows, d = C / h, share = h / kv_heads;  // width of a head; query heads on one key head
  const Var W_q = tape.use(*layer.q.W), W_k = tape.use(*layer.k.W), W_v = tape.use(*layer.v.W), W_o = tape.use(*layer.o.W);

  page.step("Project", "Q = X W_q   K = X W_k   V = X W_v", "as in lesson 09, but as wide as a word: C = " + page.measured(C));
  const Var Q = matmul(X, W_q).named("Q"), K = matmul(X, W_k).named("K"), V = matmul(X, W_v).named("V");
  page.show({X, Q, K, V}, words);

  page.step("Cut and attend", "A_a = softmax(Q_a K_aᵀ / √d)   a = 0 .. " + page.measured(h - 1),
            page.options.variant + ": head a has the columns a d .. a d + d − 1 of Q; here d = " + page.measured(d));
  std::vector<Var> A, heads;
  for (int a = 0; a < h; ++a) {
    const Var Q_a = tape.cols(Q, a * d, d), K_a = tape.cols(K, a / share * d, d), V_a = tape.cols(V, a / share * d, d);
    const Var E_a = scale(matmul_nt(Q_a, K_a), 1 / std::sqrt(double(d))).named(("E" + page.measured(a)).c_str());
    A.push_back(softmax(E_a).named(("A" + page.measured(a)).c_str()));
    page.label(E_a, words, words);
    heads.push_back(matmul(A.back(), V_a));
    page.show({A.back()}, words, words);
  }

  page.step("Join", "heads = [A_0 V_0 | A_1 V_1 | ...]   Y = heads W_o", "W_o mixes what the heads found");
  const Var H = concat_cols(heads.data(), h).named("heads"), Y = matmul(H, W_o).named("Y");
  page.show({H, Y}, words);
  page.spell(Y, 0, 0);
  page.check("the layer MultiHeadAttention gives this Y", {{layer(X).value(), Y.value()}});

  page.part("Back", "And back. A head's gradient is a block of columns, too.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Through W_o", "dheads = dY W_oᵀ   dW_o = headsᵀ dY", "columns a d .. of dheads go to head a, and to no other head");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y, H});
  page.step("Through each head", "dE0, dE1, ... then dQ, dK, dV by lesson 09",
            share > 1 ? "heads that read the same key head add up there" : "each head fills its columns of dQ, dK, dV; here dE of head 0");
  page.show_gradient({tape.find("E0")});
  page.show_gradient({Q, K, V, X});
  page.step("Into the weights", "dW_q = Xᵀ dQ   dW_k = Xᵀ dK   dW_v = Xᵀ dV");
  page.show_gradient({W_q, W_k, W_v, W_o});
  compare(page, "one projection cut up = one projection per head", page.params, layer, X.value(), dY);

  page.part("More", "Three things to know.");
  page.step("The silent bug", "view(h, n, d) instead of columns", "the shapes fit. Head 0 of Q, right, and as the memory is read in order:");
  Matrix both(Shape{n, 2 * d});
  add_to(cols(both, 0, d), cols(Q.value(), 0, d));
  for (int k = 0; k < n * d; ++k) both(k / d, d + k % d) = Q.value()(k / C, k % C);
  page.show_matrix("Q0", both, words, d == 2 ? Labels{"right", "right", "view", "view"} : Labels{});
  page.check("its second row is head 1 of the first word", n == 1 || by_hand::same(both.view().block(1, d, 1, d), Q.value().block(0, d, 1, d)));
  page.check("so it is not head 0, and nothing complains", n == 1 || !by_hand::same(cols(both, 0, d), cols(both, d, d)));
  page.step("Parameters", "4 C² numbers to learn", "whatever the number of heads is");
  const double one = try_heads(page, "one head: lesson 09, and then W_o", 1, 1, X.value(), dY);
  const double many = try_heads(page, "C heads of width 1", C, C, X.value(), dY);
  page.check("both have " + page.measured(many) + " = 4 C²", one == 4.0 * C * C && many == one);
  page.step("Shared keys", "query head a reads key head a / (h / key heads)", "fewer keys and values to keep; a shared one gets the sum");
  try_heads(page, "multi-query: 2 heads, 1 key head", 2, 1, X.value(), dY);
  try_heads(page, "grouped-query: C heads, C / 2 key heads", C, C / 2, X.value(), dY);
  return page.done();
} catch (const std::exception& e) {
  return fail("12", e);
}
