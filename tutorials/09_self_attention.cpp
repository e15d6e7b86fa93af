// tutorials/09_self_attention.cpp: one head of self-attention, five steps forward and six steps back.
// Read first: 05_softmax.   Next: see the end of the output.   The layer: layers/attention/self_attention.h
#include <cmath>

#include "layers/attention/self_attention.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// The layer on a tape of its own, in steps and as one fused line: the same numbers, the same gradients.
static void compare_forms(Page& page, SelfAttention layer, Var X, Var Y, Mat dY) {
  const Matrix dW_q(layer.q.W->grad), dW_k(layer.k.W->grad), dW_v(layer.v.W->grad);
  for (auto form : {SelfAttention::Form::steps, SelfAttention::Form::fused}) {
    layer.form = form;
    page.params.zero_grad();
    Tape tape;
    const Var x = tape.input(X.value(), "X"), y = layer(x);
    tape.backward(y, dY);
    page.check(form == SelfAttention::Form::steps ? "SelfAttention in steps: Y, dX, dW_q, dW_k, dW_v" : "SelfAttention in one fused line: the same",
               {{y.value(), Y.value()}, {x.grad(), X.grad()}, {layer.q.W->grad, dW_q}, {layer.k.W->grad, dW_k}, {layer.v.W->grad, dW_v}});
  }
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "09");
  Tape& tape = page.tape;
  const Var X = page.word_vectors("X");
  const int C = X.shape().cols;                                        // width of a word
  const int d = page.shape_of("W_q", {C, 3}).cols;                     // width of queries and keys
  SelfAttention layer(page.params, C, d, page.shape_of("W_v", {C, 3}).cols, page.rng);
  page.settle(page.params);
  const Var W_q = tape.use(*layer.q.W), W_k = tape.use(*layer.k.W), W_v = tape.use(*layer.v.W);
  const Labels words = page.words();

  page.step("Words", "X", "one row per word; the same word has the same row");
  page.show({X}, words);

  page.step("Three roles", "Q = X W_q   K = X W_k   V = X W_v",
            "query: what am I looking for?  key: what am I?  value: what do I give?");
  const Var Q = matmul(X, W_q).named("Q"), K = matmul(X, W_k).named("K"), V = matmul(X, W_v).named("V");
  page.show({W_q, W_k, W_v});
  page.show({Q, K, V}, words);

  const double s = 1 / std::sqrt(double(d));
  page.step("Scores", "S = Q Kᵀ   E = S / √d", "every query (row) meets every key (column); here 1/√d = " + page.measured(s));
  const Var S = matmul_nt(Q, K).named("S"), E = scale(S, s).named("E");
  page.label(S, words, words);
  page.show({E}, words, words);
  page.spell(E, 0, 0);

  page.step("Weights", "A = softmax(E)", "each row on its own: how much each word counts");
  const Var A = softmax(E).named("A");
  page.show_row_sums(A, words, words);
  page.check("formula A = softmax(E)", {{A.value(), by_hand::softmax(E.value())}});

  page.step("Output", "Y = A V", "each word becomes a mixture of values");
  const Var Y = matmul(A, V).named("Y");
  page.show({Y}, words);
  page.spell(Y, 0, 0);

  page.part("Back", "And back. How much does the loss L change when a number changes a little?\n"
           "dY says so for Y; the rest follows by the chain rule, one line at a time.\n"
           "(ok: nudging every number a little gives the same gradient.)");
  page.step("Given", "dY = dL/dY", "from the next layer; here random numbers, never all ones");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y});

  page.step("Through Y = A V", "dA = dY Vᵀ   dV = Aᵀ dY");
  page.show_gradient({A, V});
  page.check("formulas for dA, dV", {{A.grad(), by_hand::product_nt(dY, V.value())}, {V.grad(), by_hand::product_tn(A.value(), dY)}});

  page.step("Through softmax", "dE = A ∘ (dA − rowsum(A ∘ dA))", "every row sums to 0: pushing all scores up changes nothing");
  page.show_gradient({E});
  page.check("formula for dE; its rows sum to 0", {{E.grad(), by_hand::softmax_backward(A.value(), A.grad())},
             {by_hand::row_sums(E.grad()), Matrix(Shape{E.shape().rows, 1})}});
  page.spell_gradient(E, 0, 0);

  page.step("Through the scores", "dQ = dE K / √d   dK = dEᵀ Q / √d");
  page.show_gradient({Q, K});
  page.check("formulas for dQ, dK", {{Q.grad(), by_hand::scaled(s, by_hand::product(E.grad(), K.value()))},
             {K.grad(), by_hand::scaled(s, by_hand::product_tn(E.grad(), Q.value()))}});

  page.step("Into the weights", "dW_q = Xᵀ dQ   dW_k = Xᵀ dK   dW_v = Xᵀ dV");
  page.show_gradient({W_q, W_k, W_v});
  page.check("formulas for dW_q, dW_k, dW_v", {{W_q.grad(), by_hand::product_tn(X.value(), Q.grad())},
             {W_k.grad(), by_hand::product_tn(X.value(), K.grad())}, {W_v.grad(), by_hand::product_tn(X.value(), V.grad())}});

  page.step("Into the words", "dX = dQ W_qᵀ + dK W_kᵀ + dV W_vᵀ", "X is used three times: three gradients add up");
  page.show_gradient({X});
  const Matrix through_q = by_hand::product_nt(Q.grad(), W_q.value()), through_k = by_hand::product_nt(K.grad(), W_k.value());
  const Matrix through_v = by_hand::product_nt(V.grad(), W_v.value());
  page.check("formula for dX", {{X.grad(), by_hand::sum(by_hand::sum(through_q, through_k), through_v)}});

  compare_forms(page, layer, X, Y, dY);
  return page.done();
} catch (const std::exception& e) {
  return fail("09", e);
}
