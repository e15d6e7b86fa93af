// tutorials/24_flash_attention.cpp: exact attention without the n x n matrix, forward and back, one tile at a time.
// Read first: 09_self_attention, 11_masks.   Next: see the end of the output.   The layer: layers/attention/flash.h
#include "layers/attention/flash.h"

#include <cmath>

#include "layers/attention/self_attention.h"
#include "tutorials/page/by_hand.h"
#include "tutorials/page/measure.h"
#include "tutorials/page/page.h"
using namespace glass;

static FlashAttention in_tiles(int queries, int keys, double tau = 0) {
  FlashAttention flash;
  flash.queries = queries, flash.keys = keys, flash.tau = tau;
  return flash;
}

static void one_row(Page& page) {
  Tape& tape = page.tape;
  const Var q = tape.constant(Matrix{{1}}, "q"), K = tape.constant(Matrix{{1}, {3}, {2}, {5}, {4}}, "k"), V = tape.constant(Matrix{{1}, {2}, {3}, {4}, {5}}, "v");
  page.step("One row at once", "A = softmax(E)   Y = A V", "one query, five keys, values 1 2 3 4 5. The whole row of scores is there at once");
  const Var Y = attention_steps(q, K, V), E = tape.find("E");
  page.show({E, tape.find("A"), Y});

  page.step("Two keys at a time", "a = e^(m − m')   l' = a l + Σ e^(E − m')",
            "m: the largest score so far. l and acc: the sums so far of e^(E − m) and of e^(E − m) V. When m grows to m', a shrinks both");
  OnlineSoftmax online;
  online.keys = 2;
  const Var tiled = online(q, K, V);
  const char* names[3][4] = {{"m 0", "a 0", "l 0", "acc 0"}, {"m 1", "a 1", "l 1", "acc 1"}, {"m 2", "a 2", "l 2", "acc 2"}};
  Matrix trace(Shape{3, 4});
  for (int t = 0; t < 3; ++t)
    for (int c = 0; c < 4; ++c) trace(t, c) = tape.find(names[t][c]).value()(0, 0);
  page.show_matrix("after", trace, {"keys 0 1", "keys 2 3", "key 4"}, {"m", "a", "l", "acc"});
  page.say("   l after keys 2 3: " + page.measured(trace(1, 1)) + "·" + page.measured(trace(0, 2)) + " + e^(2 − 5) + e^(5 − 5) = " + page.measured(trace(1, 2)));
  page.spell(tiled, 0, 0);
  page.check("keys 0 1: l = e^-2 + 1, acc = 1 e^-2 + 2", {{trace.view().block(0, 2, 1, 2), Matrix{{std::exp(-2) + 1, std::exp(-2) + 2}}}});
  page.check("Y = acc / l, the same as at once", {{tiled.value(), Y.value()}});
  page.check("L = m + ln l = ln Σ e^E, the log-sum-exp of the row", {{tape.find("L").value(), log_sum_exp(E).value()}});
  double acc = trace(0, 3);
  for (int t = 1; t < 3; ++t) acc = acc / trace(t, 1) + trace(t, 3) - trace(t, 1) * trace(t - 1, 3);
  page.check("acc divided by a (a known misprint): Y would be 13.8526", acc / trace(2, 2), 13.852624664);
}

static void more(Page& page) {
  page.part("More", "Four things to know.");
  Tape tape;
  const Var Q = tape.input(wave({8, 4}, 3, 1, 0), "Q"), K = tape.input(wave({8, 4}, 2, -1, std::acos(0)), "K"), V = tape.input(wave({8, 3}, 1, 2, 0.5), "V");
  const Mask causal = Mask::causal(8, 8), late = Mask::visible({false, false, false, false, true, true, true, true}, 8);
  page.step("Causal", "skip the tiles above the diagonal", "8 tokens, tiles of 2 x 2: what nobody may see is not computed");
  const Var some = in_tiles(2, 2)(Q, K, V, {.allowed = &causal}), all = in_tiles(2, 2)(Q, K, V);
  page.check("10 of 16 tiles are visited", flash_fields(some).tiles == 10 && flash_fields(all).tiles == 16, About::cpu_kernels);
  page.check("Y is that of causal attention", {{some.value(), attention_steps(Q, K, V, &causal).value()}});
  page.step("Nothing seen yet", "m = −∞", "the first four keys are hidden: e^(m − m') is e^(−∞ + ∞), " + page.measured(std::exp(-HUGE_VAL + HUGE_VAL)));
  const Var want = attention_steps(Q, K, V, &late), fine = in_tiles(1, 1)(Q, K, V, {.allowed = &late}), coarse = in_tiles(4, 4)(Q, K, V, {.allowed = &late});
  page.check("0 stands in for m while it is −∞: tiles of 1 and of 4", {{fine.value(), want.value()}, {coarse.value(), want.value()}});
  page.step("Memory", "n² or n", "KiB on the tape for n tokens, there and back. online: the steps of 2, whose tiles all stay on the tape");
  const OnlineSoftmax online;
  const FlashAttention flash = in_tiles(16, 16);
  const Variant* const forms[] = {&plain_attention, &fused_attention, &online, &flash};
  Matrix kib(Shape{4, 4});
  for (int f = 0; f < 4; ++f)
    for (int c = 0; c < 4; ++c) kib(f, c) = Real(kib_on_tape(*forms[f], 64 << c));
  page.show_matrix("KiB", kib, {"steps", "fused", "online", "flash"}, {"64", "128", "256", "512"});
  page.check("8 times the tokens: flash takes less than 8^1.1 as much", kib(3, 3) < std::pow(8, 1.1) * kib(3, 0));
  page.check("steps and fused take more than 8^1.8 as much", kib(0, 3) > std::pow(8, 1.8) * kib(0, 0) && kib(1, 3) > std::pow(8, 1.8) * kib(1, 0));
  page.step("Rescale less often", "let m lag behind by up to 8 ln 2", "acc, l and L share one m, so any m will do that is not so low that e^(E − m) overflows");
  const Var Q4 = scale(Q, 4), K4 = scale(K, 4), a = in_tiles(8, 1)(Q4, K4, V), b = in_tiles(8, 1, 8 * std::log(2))(Q4, K4, V);
  page.check("12 rescalings become 5", flash_fields(a).rescalings == 12 && flash_fields(b).rescalings == 5, About::cpu_kernels);
  page.check("the same Y", {{b.value(), a.value()}});
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "24");
  one_row(page);
  const Var X = page.word_vectors("X");
  const Labels words = page.words();
  SelfAttention layer(page.params, X.shape().cols, 3, 3, page.rng);
  page.settle(page.params);
  page.step("All rows, in tiles of 2 x 2", "Q = X W_q   K = X W_k   V = X W_v", "two queries meet two keys, then the next two. Kept: Y, and one number L for each query");
  const Var Q = layer.q(X).named("Q"), K = layer.k(X).named("K"), V = layer.v(X).named("V");
  const Var plain = attention_steps(Q, K, V), E = page.tape.find("E"), A = page.tape.find("A");
  const Var Y = in_tiles(2, 2)(Q, K, V), L = page.tape.find("L");
  page.show({Q, K, V}, words);
  page.show({Y, L}, words);
  page.check("flash is exact: Y is that of lesson 09", {{Y.value(), plain.value()}});
  page.check("L = ln Σ e^E, row by row", {{L.value(), log_sum_exp(E).value()}});
  page.check("tiles of 1 x 1, 3 x 2 or 1 x 5: the same Y", {{in_tiles(1, 1)(Q, K, V).value(), Y.value()},
             {in_tiles(3, 2)(Q, K, V).value(), Y.value()}, {in_tiles(1, 5)(Q, K, V).value(), Y.value()}});

  page.part("Back", "And back. A is gone, but with L known any tile of it can be computed once more.\n(ok: nudging every number a little gives the same gradient.)");
  page.step("Given", "dY = dL/dY", "random");
  const int two = std::min(2, X.shape().rows);
  const Matrix dY = page.random_seed(Y), dE = by_hand::softmax_backward(A.value(), by_hand::product_nt(dY, V.value()));
  page.backward(Y, dY);
  const Var D = page.tape.expose(flash_fields(Y).D, "D"), dA = page.tape.constant(by_hand::product_nt(dY, V.value()), "dA");
  page.show_gradient({Y});

  page.step("One number for each query", "D = rowsum(dY ∘ Y)", "softmax needs rowsum(A ∘ dA), a sum over all keys. D is the same number");
  page.show({D}, words);
  page.check("D = rowsum(A ∘ dA)", {{D.value(), row_sum(mul(A, dA)).value()}});

  page.step("One tile again", "P = e^(E − L)   dE = P ∘ (dY Vᵀ − D)", "here the first queries and keys: computed, used, forgotten");
  const Var E_tile = page.tape.view(E, 0, 0, two, two), dA_tile = page.tape.view(dA, 0, 0, two, two);
  const Var P = exp(sub_col(E_tile, page.tape.rows(L, 0, two))).named("P"), dE_tile = mul(P, sub_col(dA_tile, page.tape.rows(D, 0, two))).named("dE");
  page.show({P, dE_tile}, words, words);
  page.spell(P, 0, 0);
  page.check("P is a block of A, dE a block of the whole dE", {{P.value(), A.value().block(0, 0, two, two)}, {dE_tile.value(), dE.view().block(0, 0, two, two)}});

  page.step("Added up", "dV += Pᵀ dY   dQ += dE K / √d   dK += dEᵀ Q / √d");
  page.show_gradient({Q, K, V});
  const Matrix dS = by_hand::scaled(1 / std::sqrt(3.0), dE);
  page.check("formulas with the whole A and dE", {{V.grad(), by_hand::product_tn(A.value(), dY)}, {Q.grad(), by_hand::product(dS, K.value())},
             {K.grad(), by_hand::product_tn(dS, Q.value())}});
  more(page);
  return page.done();
} catch (const std::exception& e) {
  return fail("24", e);
}
