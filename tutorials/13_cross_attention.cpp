// tutorials/13_cross_attention.cpp: one sequence asks, another one answers. Then it learns where to look.
// Read first: 11_masks, 20_training.   Next: see the end of the output.   The layer: layers/attention/cross_attention.h
#include "layers/attention/cross_attention.h"

#include <cmath>

#include "layers/optim/adamw.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

// A task: write a word of four letters backwards. Each row of X says which letter is wanted, of Z which letter | which place.
struct Reverser {
  ParamStore params;
  CrossAttention attention;
  Linear out;
  explicit Reverser(Rng& rng) : attention(params, "", 4, 10, 8, 8, rng), out(params, "_out", 8, 6, rng) {}
  Var operator()(Tape& tape, const int* word, std::vector<Var>* weights) const {
    Matrix X(Shape{4, 4}), Z(Shape{4, 10});
    for (int i = 0; i < 4; ++i) X(i, i) = Z(i, word[i]) = Z(i, 6 + i) = 1;
    return out(attention(tape.constant(X, "X"), tape.constant(Z, "Z"), {.weights = weights}));
  }
};

static void train(Reverser& model, Rng rng) {
  AdamW adamw(model.params, 0.02, 0);
  Tape tape;
  for (int step = 0; step < 300; ++step) {
    model.params.zero_grad();
    for (int t = 0; t < 8; ++t) {  // the gradients of eight words add up
      int word[4], backwards[4];
      for (int i = 0; i < 4; ++i) word[i] = backwards[3 - i] = int(rng.uniform() * 6);
      tape.rewind();
      tape.backward(cross_entropy(model(tape, word, nullptr), backwards, 4));
    }
    adamw.step();
  }
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "13");
  Tape& tape = page.tape;
  const Var Z = page.word_vectors("Z");
  const Labels source = page.words(), target = {"le", "chat", "dort"};
  const int m = Z.shape().rows, n = 3, C = 2, d = 2;
  Matrix x(Shape{n, C});
  for (int i = 0; i < n; ++i) tape.be.copy(page.word_vector(target[std::size_t(i)], C), x.view().block(i, 0, 1, C));
  const Var X = tape.input(page.matrix("X", x), "X");
  CrossAttention first(page.params, "", C, Z.shape().cols, d, C, page.rng), second(page.params, "_2", C, Z.shape().cols, d, C, page.rng);
  page.settle(page.params);

  page.step("One asks, one answers", "Q = X W_q   K = Z W_k   V = Z W_v", "X and Z have their own lengths and widths; Q and K must fit");
  const Var W_q = tape.use(*first.q.W), W_k = tape.use(*first.k.W), W_v = tape.use(*first.v.W);
  const Var Q = matmul(X, W_q).named("Q"), K = matmul(Z, W_k).named("K"), V = matmul(Z, W_v).named("V");
  page.show({X, Q}, target);
  page.show({Z, K, V}, source);

  page.step("Scores and weights", "E = Q Kᵀ / √d   A = softmax(E)", "a row for each word of X, a column for each word of Z; no causal mask");
  const Var E = scale(matmul_nt(Q, K).named("S"), 1 / std::sqrt(double(d))).named("E"), A = softmax(E).named("A");
  page.show({E}, target, source);
  page.show_row_sums(A, target, source);

  page.step("Two layers", "Y = A V   X2 = X + Y   Y2 = layer 2 (X2, Z)", "the second layer asks again, with what the first one found");
  const Var Y = matmul(A, V).named("Y"), X2 = add(X, Y).named("X2");
  const CrossAttention::Memory kept = second.remember(Z);
  const Var Y2 = second(X2, kept).named("Y2");
  page.show({Y, X2, Y2}, target);
  page.spell(Y, 0, 0);
  page.check("CrossAttention, the layer, gives this Y", {{first(X, Z).value(), Y.value()}});

  page.part("Back", "And back. Z was read by two layers: both send it a gradient.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Through layer 2", "dX2 = dQ2 W_q2ᵀ, and dY = dX2", "dY2 is random");
  const Matrix dY2 = page.random_seed(Y2);
  page.backward(Y2, dY2);
  page.show_gradient({Y2, X2, Y});
  page.step("Through layer 1", "dA = dY Vᵀ   dE = A ∘ (dA − rowsum(A ∘ dA))");
  page.show_gradient({A, E});
  page.check("formulas for dA, dE", {{A.grad(), by_hand::product_nt(Y.grad(), V.value())},
             {E.grad(), by_hand::softmax_backward(A.value(), A.grad())}});
  page.step("Into X and Z", "dX = dX2 + dQ W_qᵀ   dZ = dK W_kᵀ + dV W_vᵀ + ...",
            "... and the same two terms from layer 2. Through Q nothing comes to Z");
  page.show_gradient({X, Q});
  page.show_gradient({Z, K, V});
  page.spell_gradient(Z, 0, 0);
  const Matrix from_1 = by_hand::sum(by_hand::product_nt(K.grad(), W_k.value()), by_hand::product_nt(V.grad(), W_v.value()));
  const Matrix from_2 = by_hand::sum(by_hand::product_nt(kept.K.grad(), second.k.W->value), by_hand::product_nt(kept.V.grad(), second.v.W->value));
  page.check("formula for dX", {{X.grad(), by_hand::sum(X2.grad(), by_hand::product_nt(Q.grad(), W_q.value()))}});
  page.check("dZ adds up over the layers", {{Z.grad(), by_hand::sum(from_1, from_2)}});

  page.part("More", "Three things to know.");
  page.step("Padding of Z", "hide the last word of Z from everyone", "the only mask that is needed here");
  std::vector<bool> keys(std::size_t(m), true);
  keys.back() = false;
  const Mask visible = Mask::visible(keys, n);
  Tape padded;
  const Var Z_padded = padded.input(Z.value(), "Z"), X_padded = padded.input(X.value(), "X");
  padded.backward(first(X_padded, Z_padded, {.allowed = &visible}), dY2);
  page.check("a hidden word of Z gets no gradient", by_hand::norm(Z_padded.grad().block(m - 1, 0, 1, Z.shape().cols)) == 0);
  page.step("Rows of X", "change the last word of X", "it is no key: the other rows do not move, so nothing has to be hidden");
  Matrix changed(X.value());
  changed(n - 1, 0) += 1;
  page.check("the rows before it do not move, not by one bit",
             by_hand::same(first(tape.constant(changed, "X"), Z).value().block(0, 0, n - 1, C), Y.value().block(0, 0, n - 1, C)));
  page.step("Learning where to look", "b d a c  →  c a d b", "write a word backwards, drawn anew each time; 300 steps teach one head where");
  Rng rng(page.seed());
  Reverser model(rng);
  const int word[] = {1, 3, 0, 2};  // b d a c
  std::vector<Var> seen;
  model(tape, word, &seen);
  train(model, rng);
  model(tape, word, &seen);
  const Labels wanted = {"1st", "2nd", "3rd", "4th"}, letters = {"b", "d", "a", "c"};
  page.show({seen[0].named("A before"), seen[1].named("A after")}, wanted, letters);
  bool backwards = true;
  for (int i = 0; i < 4; ++i) backwards = backwards && seen[1].value()(i, 3 - i) > 0.8;
  page.check("each row looks at the letter that it has to write", backwards);
  return page.done();
} catch (const std::exception& e) {
  return fail("13", e);
}
