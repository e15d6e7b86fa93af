// tutorials/25_kv_cache.cpp: a new token asks; the keys and values of the tokens before it are there already.
// Read first: 11_masks, 12_multi_head.   Next: see the end of the output.   The layer: layers/attention/kv_cache.h
#include "layers/attention/kv_cache.h"

#include "tutorials/page/by_hand.h"
#include "tutorials/page/measure.h"
#include "tutorials/page/page.h"
using namespace glass;

// Row i says that a word stands at position first + i: sin(position + 2 column). Lesson 14 has better ones.
static Matrix positions(int first, int n, int C) { return wave({n, C}, 1, 2, first); }

static Mat rows(Mat X, int first, int n) { return X.block(first, 0, n, X.cols); }
static bool differ(Mat A, Mat B) { return by_hand::distance(A, B) > 0.1; }

// What is fed to the layer in pieces of `size` words comes out as one matrix. Each piece has a tape of its own.
static Matrix in_pieces(const MultiHeadAttention& layer, Mat words, int size, bool offset = true) {
  KvCache cache(words.rows, layer.k.W->value.cols(), layer.v.W->value.cols());
  Matrix Y(words.shape());
  for (int t = 0; t < words.rows; t += size) {
    const int n = std::min(size, words.rows - t);
    Tape tape;
    const Var x = tape.input(by_hand::sum(rows(words, t, n), positions(offset ? t : 0, n, words.cols)), "x");
    tape.be.copy(decode(layer, x, cache).value(), rows(Y, t, n));
  }
  return Y;
}

// Operations for n words one by one: with a cache, or the whole sequence again for each word.
static double operations(const MultiHeadAttention& layer, Mat words, bool cached) {
  KvCache cache(words.rows, layer.k.W->value.cols(), layer.v.W->value.cols());
  double sum = 0;
  for (int t = 1; t <= words.rows; ++t) {
    const Mask causal = Mask::causal(t, t);
    Tape tape;
    cached ? decode(layer, tape.input(rows(words, t - 1, 1), "x"), cache) : layer(tape.input(rows(words, 0, t), "X"), {.mask = &causal});
    sum += operations_of_products(tape);
  }
  return sum;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "25");
  Tape& tape = page.tape;
  const Var W = page.word_vectors("words");
  const Labels words = page.words();
  const int n = W.shape().rows, C = W.shape().cols, last = n - 1;
  MultiHeadAttention layer(page.params, "", C, C % 2 ? 1 : 2, page.rng);
  page.settle(page.params);

  page.step("All at once", "Y = causal attention of X = words + positions", "as in training: every word sees itself and the words before it. Two heads; A is that of head 0");
  const Var X = add(W, tape.constant(positions(0, n, C), "P")).named("X");
  const Mask causal = Mask::causal(n, n);
  std::vector<Var> weights, row;
  const Var Y = layer(X, {.mask = &causal, .weights = &weights}), K = tape.find("K"), V = tape.find("V"), Q = tape.find("Q");
  page.label(Q, words);
  page.show({X, K, V}, words);
  page.spell(K, last, 0);
  page.show({weights[0]}, words, words);
  page.show({Y}, words);

  page.step("One more word", "q k v of the new word only", "as when a text is written: " + words[std::size_t(last)] + " is new. The cache has the rows of K and V above it");
  KvCache cache(n, C, C);
  Tape step;
  if (last > 0) decode(layer, step.input(rows(X.value(), 0, last), "x"), cache);
  step.rewind();
  const Var y = decode(layer, step.input(rows(X.value(), last, 1), "x"), cache, &row), q = step.find("Q"), A = row[0];
  page.show_matrix("q", q.value(), {words.back()});
  page.show_matrix("a", A.value(), {words.back()}, words);
  page.show_matrix("y", y.value(), {words.back()});
  page.check("the cache now holds K and V", {{cache.keys(step).value(), K.value()}, {cache.values(step).value(), V.value()}}, 1e-12);
  const Mat A_last = rows(weights[0].value(), last, 1), Y_last = rows(Y.value(), last, 1);
  page.check("a and y are the last rows of A and Y", {{A.value(), A_last}, {y.value(), Y_last}}, 1e-12);

  page.step("Any pieces", "several new words: query i of c sees the keys up to m − c + i", "m keys, c of them new. The mask is aligned at the last key, not at the first");
  page.check("word by word", {{in_pieces(layer, W.value(), 1), Y.value()}}, 1e-12);
  page.check("in pieces of 2, and all in one", {{in_pieces(layer, W.value(), 2), Y.value()}, {in_pieces(layer, W.value(), n), Y.value()}}, 1e-12);
  Mask first(1, n, false);  // as if the new word were word 0
  first.set(0, 0, true);
  const Var blind = layer.o(multi_head(tape.rows(Q, last, 1), K, V, {.heads = layer.heads, .mask = &first}));
  page.check("aligned at the first key, it would see one word only", n == 1 || differ(blind.value(), y.value()));

  page.part("Back", "And back? The cache holds numbers, not lines of a tape. It is for writing, not for learning.");
  page.step("The whole pass", "dQ   dK   dV", "row j of dK and dV is a sum over all later queries");
  const Matrix dY = page.random_seed(Y);
  page.backward(Y, dY);
  page.show_gradient({Y});
  page.show_gradient({Q, K, V});

  page.step("With the cache", "dq", "the new query gets the same gradient as above; the past, and even the new k and v, get none");
  step.backward(y, rows(dY, last, 1));
  page.show_matrix("dq", q.grad(), {words.back()});
  page.check("dq is the last row of dQ", {{q.grad(), rows(Q.grad(), last, 1)}}, 1e-12);
  page.check("no gradient enters the cache", !step.find("K cache").has_grad() && !step.find("K").has_grad());

  page.part("More", "Three things to know.");
  page.step("Positions go on", "the new word stands at m, not at 0", "each piece begins where the cache ends");
  page.check("numbered from 0 in each piece, Y is another", n == 1 || differ(in_pieces(layer, W.value(), 1, false), Y.value()));
  page.step("Room", "2 · heads of keys · d numbers for each token and layer", "bytes: here, 8 query heads, d = 4, 100 tokens. MiB: 32 layers of 32 heads, d = 128, 4096 tokens, 2 bytes each");
  Matrix room(Shape{3, 3});
  for (int i = 0; i < 3; ++i) {
    const int here = i == 0 ? 8 : i == 1 ? 2 : 1, model = i == 0 ? 32 : i == 1 ? 8 : 1;
    KvCache some(100, 4 * here, 4 * here);
    some.tokens = 100;
    room(i, 0) = here, room(i, 1) = Real(some.bytes()), room(i, 2) = Real(2.0 * model * 128 * 32 * 4096 * 2 / (1 << 20));
  }
  page.show_matrix("room", room, {"multi-head", "grouped", "multi-query"}, {"heads", "bytes", "MiB"});
  page.check("grouped: a quarter of it; multi-query: one head's part", room(1, 1) * 4 == room(0, 1) && room(2, 2) * 32 == room(0, 2));
  page.step("Work", "n³ or n²", "operations in the matrix products for n words one by one, width 4, in thousands");
  ParamStore store;
  const MultiHeadAttention narrow(store, "", 4, 2, page.rng);
  Matrix work(Shape{2, 4});
  for (int c = 0; c < 4; ++c)
    for (int cached = 0; cached < 2; ++cached) work(cached, c) = Real(operations(narrow, wave({16 << c, 4}, 3, 1, 0), cached) / 1000);
  page.show_matrix("work", work, {"again", "cache"}, {"16", "32", "64", "128"});
  page.check("64 to 128: again > 7 times the work, cache < 4 times", work(0, 3) > 7 * work(0, 2) && work(1, 3) < 4 * work(1, 2));
  return page.done();
} catch (const std::exception& e) {
  return fail("25", e);
}
