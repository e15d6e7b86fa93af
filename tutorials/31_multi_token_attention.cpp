// tutorials/31_multi_token_attention.cpp: a weight that looks at several queries, several keys and several heads at once.
// Read first: 12_multi_head.   Next: see the end of the output.   The layer: layers/attention/multi_token.h
#include "layers/attention/multi_token.h"

#include <cmath>

#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static constexpr int kWords = 4, kHeads = 2, d = 3;
static const double kScale = 1 / std::sqrt(double(d));
static const Mask kCausal = Mask::causal(kWords, kWords);

// One head: how far do the weights of all words but the last move when the last word's key changes?
static double moved(Mat Q, Mat K, Mat changed, Mat w, bool first_mask) {
  Matrix A[2];
  for (int i = 0; i < 2; ++i) {
    Tape tape;
    const Var E = scaled_scores(tape.constant(Q, "Q"), tape.constant(i ? changed : K, "K"), kScale);
    const Var C = conv2d_causal(first_mask ? mask(E, kCausal.keep(), 0) : E, tape.constant(w, "w"));
    A[i] = by_hand::scaled(i ? -1 : 1, softmax(hide_pairs(C, &kCausal)).value());
  }
  return by_hand::norm(by_hand::sum(A[0], A[1]).view().block(0, 0, kWords - 1, kWords));
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "31");
  Tape& tape = page.tape;
  Param& q = page.params.make("Q", {kWords, kHeads * d}, Init::normal, page.rng);
  Param &k = page.params.make("K", q.value.shape(), Init::normal, page.rng), &v = page.params.make("V", q.value.shape(), Init::normal, page.rng);
  MultiToken layer(page.params, "", kHeads, d, page.rng, {.c_q = 2, .c_k = 3});
  for (Param* p : {layer.scores_kernel, layer.weights_kernel, layer.scores_mix, layer.weights_mix})  // as if trained
    for (int i = 0; i < int(count(p->value.shape())); ++i) p->value(i / p->value.cols(), i % p->value.cols()) += Real(0.4 * page.rng.normal());
  page.settle(page.params);
  const Var Q = tape.use(q), K = tape.use(k), V = tape.use(v);
  page.label(Q, {"the", "cat", "sat", "down"});
  const MultiTokenParts parts = layer.on(tape);
  const Labels ask = {"a?", "b?"}, letters = {"x", "a", "b", "x", "x", "b", "x", "x", "a"}, words = {"the", "cat", "sat", "down"};
  page.step("A question for two", "where do a and b stand side by side?", "one query looks for a, the next one for b; its score is 1 where the letter is");
  const Var F = tape.input(Matrix{{0, 1, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 1, 0, 0, 1, 0, 0, 0}}, "F");
  page.show({F}, ask, letters);
  page.step("Add up a neighbourhood", "G_ij = Σ_ab w_ab F_(i−1+a, j−1+b)",
            "softmax of row b? would weigh both b alike. Now: both queries, each key and its neighbours, times 2");
  const Var G = conv2d_causal(F, tape.constant(Matrix{{2, 2, 2}, {2, 2, 2}}, "twos")).named("G");
  page.show({G}, ask, letters);
  page.check("only where both letters are near the score doubles: 4", {{G.value().block(1, 0, 1, 9), Matrix{{2, 4, 4, 2, 2, 2, 2, 2, 2}}}});
  std::vector<Var> E(2), C(2), M, A(2), B(2), P, N(2), Y(2), w(2), y(kWords);
  page.part("Layer", "The whole layer: two heads, four words, random numbers. Causal: a query sees the\nkeys up to its own. Head 0 is on the left, head 1 on the right.");
  page.step("Scores", "E = Mask0(Q Kᵀ / √d)", "what is hidden counts 0, so that it adds nothing to a neighbourhood");
  for (int h = 0; h < 2; ++h) E[h] = mask(scaled_scores(tape.cols(Q, h * d, d), tape.cols(K, h * d, d), kScale), kCausal.keep(), 0);
  page.show({E[0].named("E_0"), E[1].named("E_1")}, words, words);
  page.step("Neighbours", "C = conv(E, w)", "each head has a kernel w. Its last row: this query; middle column: this key");
  for (int h = 0; h < 2; ++h) C[h] = conv2d_causal(E[h], w[h] = tape.rows(parts.scores_kernel, 2 * h, 2));
  page.show({w[0].named("w_0"), w[1].named("w_1")}, {"before", "this"}, {"left", "key", "right"});
  page.show({C[0].named("C_0"), C[1].named("C_1")}, words, words);
  page.spell(C[0], 2, 1);
  page.check("formula for C", {{C[0].value(), by_hand::conv2d(E[0].value(), w[0].value())}, {C[1].value(), by_hand::conv2d(E[1].value(), w[1].value())}});
  page.step("Heads", "M_g = Σ_h H_gh C_h     A = softmax(MaskInf(M))", "heads mix; then what is hidden scores −inf: 0 is a score like any other");
  M = mix_heads(C, parts.scores_mix);
  page.show({parts.scores_mix});
  for (int h = 0; h < 2; ++h) A[h] = softmax(hide_pairs(M[h], &kCausal));
  page.show({A[0].named("A_0"), A[1].named("A_1")}, words, words);
  page.step("Once more", "B = Mask0(conv(A, w'))   P_g = Σ_h H'_gh B_h", "the weights get the same treatment, and no sum divides them afterwards");
  for (int h = 0; h < 2; ++h) B[h] = mask(conv2d_causal(A[h], tape.rows(parts.weights_kernel, 2 * h, 2)), kCausal.keep(), 0);
  P = mix_heads(B, parts.weights_mix);
  page.show_row_sums(P[0].named("P_0"), words, words);
  page.check("rows of P do not sum to 1: these are no probabilities", std::fabs(by_hand::row_sums(P[0].value())(0, 0) - 1) > 1e-3);
  page.step("Output", "N = rms_norm(P V)   Y = N sigmoid(N g + b)", "each head normalises each word's row, and may turn it down");
  for (int h = 0; h < 2; ++h) N[h] = rms_norm(matmul(P[h], tape.cols(V, h * d, d)), parts.gain);
  for (int h = 0; h < 2; ++h) Y[h] = mul_col(N[h], sigmoid(add_scalar(matmul(N[h], parts.gate), parts.gate_bias)));
  const Var out = concat_cols(Y.data(), 2).named("Y");
  page.show({out}, words);
  page.check("the layer MultiToken in one call", {{layer(Q, K, V, {.mask = &kCausal}).value(), out.value()}});
  page.check("or depth scaling instead of the gate, layer 2: Y = (1 − λ) N", 1 - depth_lambda(2), 0.529286981656);
  page.part("Back", "And back. (ok: nudging every number a little gives the same gradient.)");
  const Matrix dY = page.random_seed(out);
  page.backward(out, dY);
  page.step("To the weights", "dB_h = Σ_g H'_gh dP_g   dA = Mask0(dB) back through w'", "from a random dY");
  page.show_gradient({out});
  page.show_gradient({A[0], A[1]});
  page.step("To the scores", "dE_kl += w_ab dC_ij   dw_ab += E_kl dC_ij", "after softmax and the mix of heads; all i, j, a, b with k = i−1+a, l = j−1+b");
  page.show_gradient({E[0], E[1]});
  page.show_gradient({w[0], w[1]});
  page.check("formulas for dM, dE, dw", {{M[0].grad(), by_hand::softmax_backward(A[0].value(), A[0].grad())},
             {E[0].grad(), by_hand::conv2d_dX(C[0].grad(), w[0].value())}, {w[0].grad(), by_hand::conv2d_dw(E[0].value(), C[0].grad(), {2, 3})}});
  page.step("Into Q", "dQ = Mask0(dE) K / √d");
  page.show_gradient({Q});
  int right = 0, differ = 0;
  const Var others[] = {K, V, parts.scores_mix, parts.weights_kernel, parts.weights_mix, parts.gain, parts.gate, parts.gate_bias};
  for (const Var x : others) right += gradient_gap(tape, out, dY, x).ok();
  page.check("dK, dV, dH, dw', dH', dgain, dgate, dgate_bias = differences", right == 8);
  page.part("Trap", "Four things to know.");
  page.step("The start", "w, H = identity", "1 for the query and key themselves, 1 for the head itself, else 0");
  ParamStore fresh;
  const MultiToken start(fresh, "", kHeads, d, page.rng, {.scaling = MultiTokenSettings::Scaling::none});
  page.check("identity kernels and mixes give plain attention", {{start(Q, K, V, {.mask = &kCausal}).value(),
             multi_head(Q, K, V, {.heads = kHeads, .mask = &kCausal}).value()}}, 1e-15);
  page.step("Without the first mask", "the future leaks", "the last word's key turns round; how far do the rows of A before it move?");
  const Mat Q_0 = Q.value().block(0, 0, kWords, d), K_0 = K.value().block(0, 0, kWords, d), w_0 = w[0].value();
  Matrix other(K_0);
  for (int c = 0; c < d; ++c) other(kWords - 1, c) *= -1;
  const double leak = moved(Q_0, K_0, other, w_0, false), kept = moved(Q_0, K_0, other, w_0, true);
  page.say("   Without it A_0 moves by " + page.measured(leak) + ", with it by " + page.measured(kept) + ".");
  page.check("with the first mask not a bit leaks", kept == 0);
  page.step("With it", "a little too much is hidden", "the kernel also drops what query i may see and the query before it may not");
  for (int i = 0; i < kWords; ++i) {  // every query sees the keys up to i
    const Matrix exact = by_hand::conv2d(by_hand::scaled(kScale, by_hand::product_nt(Q_0, K_0.block(0, 0, i + 1, d))), w_0);
    for (int j = 0; j <= i; ++j) differ += std::fabs(double(exact(i, j) - C[0].value()(i, j))) > page.rounding();
  }
  page.say("   Of the 10 sums in C_0, " + page.measured(differ) + " would be different if only query i decided.");
  page.check("double masking is not that: at most 2 in each row but the first", differ <= 2 * (kWords - 1));
  page.step("Word by word", "keep K, V, and the last c_q − 1 rows of E and A");
  MultiTokenPast past;
  for (int t = 0; t < kWords; ++t) y[std::size_t(t)] = layer(tape.rows(Q, t, 1), tape.rows(K, 0, t + 1), tape.rows(V, 0, t + 1), {}, &past);
  page.check("the same rows of Y", {{concat_rows(y.data(), kWords).value(), out.value()}});
  return page.done();
} catch (const std::exception& e) {
  return fail("31", e);
}
