// tutorials/27_lsh_attention.cpp: tokens that point in about the same direction find each other by hashing.
// Read first: 26_sparse_attention.   Next: see the end of the output.   The layer: layers/attention/lsh.h
#include "layers/attention/lsh.h"

#include <algorithm>
#include <cmath>

#include "tutorials/page/by_hand.h"
#include "tutorials/page/page.h"
using namespace glass;

static Matrix directions(Shape s, Rng& rng) {  // random, with one decimal
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(std::round(10 * rng.normal()) / 10);
  return m;
}

// Every query has one other key with the highest score. Which part of these is in the lists?
static double recall(Mat scores, const KeyLists& lists) {
  double found = 0;
  for (int i = 0; i < scores.rows; ++i) {
    int best = i == 0;
    for (int j = 0; j < scores.cols; ++j)
      if (j != i && scores(i, j) > scores(i, best)) best = j;
    found += lists.has(i, best);
  }
  return found / scores.rows;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "27");
  const Labels words = page.words();
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows, C = X.shape().cols;
  LshAttention layer(page.params, "", C, 1, page.rng);
  page.settle(page.params);
  Rng rng(page.seed());
  const std::vector<Matrix> R = {page.matrix("R1", directions({C, 2}, rng)), page.matrix("R2", directions({C, 2}, rng))};
  Lsh lsh;
  lsh.chunk = n % 2 ? n : 2, lsh.rotations = &R;
  page.step("Shared", "Q = X W_qk   k = q / |q|   V = X W_v", "one projection: the key of a token is its query at length 1");
  const Var Q = layer.qk(X).named("Q"), k = unit_rows(Q).named("k"), V = layer.v(X).named("V");
  page.show({Q, k}, words);
  page.spell(k, 0, 0);

  page.step("Hash", "bucket = argmax [q R ; −q R]", "R: 2 random directions. Is the largest in q R? Bucket 0, 1. In −q R? 2, 3.\n   Two rounds, so two R");
  page.show({matmul(Q, page.tape.constant(R[0], "R1")).named("Q R1"), matmul(Q, page.tape.constant(R[1], "R2")).named("Q R2")}, words);
  const std::vector<LshRound> rounds = lsh.hash(Q.value());
  page.check("only the direction counts: 3 q, the same buckets", lsh.hash(by_hand::scaled(3, Q.value()))[0].bucket == rounds[0].bucket);
  page.step("Sort and cut", "by (bucket, position), then into chunks |", "look into your own chunk and the one before it, in your own bucket");
  std::vector<KeyLists> found;
  for (const LshRound& round : rounds) {
    std::string line = "   |";
    for (std::size_t at = 0; at < words.size(); ++at) {
      const std::size_t t = std::size_t(round.order[at]);
      line += " " + words[t] + " " + page.measured(round.bucket[t]) + ((int(at) + 1) % lsh.chunk ? "," : " |");
    }
    page.say(line);
    found.push_back(lsh_found(round, lsh.chunk));
  }
  page.step("Found", "what either round finds", "itself only if it finds no other");
  const KeyLists all = lsh_union(found);
  for (std::size_t t = 0; t < words.size(); ++t) {
    std::string line = "   " + words[t] + ":";
    for (const int j : all.of[t]) line += " " + words[std::size_t(j)];
    page.say(line);
  }
  page.step("Attend", "A = softmax of q_i · k_j / √d over what was found   Y = A V");
  const Var Y = lsh_one_softmax(Q, k, V, found), A = weights_of(Y);
  page.show_row_sums(A, words, words);
  page.show({V, Y}, words);

  page.part("Back", "And back. Buckets are whole numbers: no gradient goes through them.");
  page.step("Through the softmax", "as in lesson 26, over the pairs that were found");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y, V});
  page.step("Into the queries", "dq = (as a query) + (dk − k (k · dk)) / |q|", "Q is used twice: as it is, and at length 1");
  page.show_gradient({k, Q});
  page.spell_gradient(Q, 1, 0);
  const Matrix dE = by_hand::softmax_backward(A.value(), by_hand::product_nt(dY, V.value()));
  const Matrix dQ = by_hand::scaled(1 / std::sqrt(double(C)), by_hand::product(dE, k.value()));
  for (int i = 0; i < n; ++i) {
    const Mat q_i = Q.value().block(i, 0, 1, C), k_i = k.value().block(i, 0, 1, C), dk_i = k.grad().block(i, 0, 1, C);
    for (int c = 0; c < C; ++c) dQ(i, c) += Real((dk_i(0, c) - k_i(0, c) * by_hand::dot(k_i, dk_i)) / by_hand::norm(q_i));
  }
  page.check("formula for dQ", {{Q.grad(), dQ}});
  page.part("More", "Three things to know.");
  page.step("Round by round", "Y = Σ_r exp(z_r − Z) o_r", "the paper: o_r softmax, z_r log-sum-exp of E − ln N in round r; Z of all z_r\n   N: how many rounds found the pair. 1e5 off the score of itself");
  Tape tape;
  const Var q2 = tape.input(Q.value(), "Q"), V2 = tape.input(V.value(), "V"), Y2 = lsh_rounds(q2, unit_rows(q2), V2, rounds, found, lsh.chunk);
  tape.backward(Y2, dY);
  page.check("the rounds are one softmax over the union: Y, dQ, dV", {{Y2.value(), Y.value()}, {q2.grad(), Q.grad()}, {V2.grad(), V.grad()}});
  page.step("More rounds find more", "128 random tokens, 16 buckets, chunks of 8", "best: each query's best key, how often found?   pairs: the part of all pairs");
  const Matrix many = directions({128, 8}, rng), other(many), table(Shape{4, 2});
  const Matrix scores = by_hand::product_nt(many, unit_rows(tape.constant(many, "q")).value());
  lsh.buckets = 16, lsh.chunk = 8, lsh.rounds = 8, lsh.seed = page.seed(), lsh.rotations = nullptr;
  KeyLists so_far(128, 128);
  int row = 0, r = 0, most = 0;
  for (const LshRound& round : lsh.hash(many)) {
    for (const auto& keys : lsh_found(round, 8).of) most = std::max(most, int(keys.size()));
    so_far = so_far | lsh_found(round, 8);
    if (++r == 1 << row) table(row, 0) = Real(recall(scores, so_far)), table(row++, 1) = Real(double(so_far.pairs()) / (128 * 128));
  }
  page.show_matrix("found", table, {"1 round", "2", "4", "8"}, {"best", "pairs"});
  page.check("each time more, and more than by chance", table(0, 0) < table(1, 0) && table(1, 0) < table(2, 0) && table(2, 0) < table(3, 0) && table(3, 0) > 2 * table(3, 1));
  page.check("a round costs n · 2 chunks; n log n is only the sorting", most <= 2 * lsh.chunk);
  page.step("A later token moves earlier choices", "causal; turn the last one around");
  for (int c = 0; c < 8; ++c) other(127, c) = -many(127, c);
  const Mask causal = Mask::causal(128, 128);
  const KeyLists before = lsh_found(lsh.hash(many)[0], 8, &causal), after = lsh_found(lsh.hash(other)[0], 8, &causal);
  int moved = 0;
  for (std::size_t i = 0; i < 127; ++i) moved += before.of[i] != after.of[i];
  page.say("   " + page.measured(moved) + " of the 127 others find other keys: the borders of the chunks moved.");
  page.check("earlier tokens find other keys, never later ones", moved > 0 && (after & causal) == after);
  return page.done();
} catch (const std::exception& e) {
  return fail("27", e);
}
