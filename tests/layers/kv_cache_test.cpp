// A cache of keys and values: the rows of causal attention, however the tokens are fed.
#include "layers/attention/kv_cache.h"

#include "layers/attention/flash.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

typedef std::vector<int> Split;  // so many tokens in each step

static Matrix rows_of(const Matrix& m, int first, int n) { return Matrix(m.view().block(first, 0, n, m.cols())); }

// Feeds the tokens in steps, each on a tape of its own, and puts the rows together.
static Matrix fed(const Split& split, const Matrix& q, const Matrix& k, const Matrix& v, const Heads& cut, const Variant& variant = plain_attention) {
  KvCache cache(q.rows(), k.cols(), v.cols());
  Matrix all(Shape{q.rows(), cut.heads * v.cols() / cut.groups()});
  Tape tape;
  for (int n : split) {
    tape.rewind();
    const int t = cache.tokens;
    const Var Q = tape.input(rows_of(q, t, n), "Q"), K = tape.input(rows_of(k, t, n), "K"), V = tape.input(rows_of(v, t, n), "V");
    const Var Y = multi_head_cached(Q, K, V, cache, cut, variant);
    cpu_backend().copy(Y.value(), all.view().block(t, 0, n, all.cols()));
  }
  CHECK(cache.tokens == q.rows());
  return all;
}

static Matrix at_once(const Matrix& q, const Matrix& k, const Matrix& v, Heads cut, const Variant& variant = plain_attention) {
  const Mask causal = Mask::causal(q.rows(), k.rows());
  cut.mask = &causal;
  Tape tape;
  return Matrix(multi_head(tape.constant(q, "Q"), tape.constant(k, "K"), tape.constant(v, "V"), cut, variant).value());
}

TEST_CASE("kv cache: token by token, in chunks and at once are the rows of causal attention") {
  Rng rng(5);
  const FlashAttention flash;
  for (const Heads& cut : {Heads{}, Heads{.heads = 4}, Heads{.heads = 4, .kv_heads = 2}, Heads{.heads = 4, .kv_heads = 1}}) {
    const int n = 7, d = 3, d_v = 2;
    const Matrix q = random_matrix({n, cut.heads * d}, rng), k = random_matrix({n, cut.groups() * d}, rng), v = random_matrix({n, cut.groups() * d_v}, rng);
    const Matrix want = at_once(q, k, v, cut);
    for (const Split& split : {Split{1, 1, 1, 1, 1, 1, 1}, Split{2, 2, 2, 1}, Split{3, 4}, Split{6, 1}, Split{1, 6}, Split{7}, Split{0, 7, 0}}) {
      CAPTURE(cut.heads, cut.kv_heads, split.size(), split[0]);
      CHECK(difference(fed(split, q, k, v, cut), want, kRounding) == "");
      CHECK(difference(fed(split, q, k, v, cut, fused_attention), want, kRounding) == "");
      CHECK(difference(fed(split, q, k, v, cut, flash), want, kRounding) == "");
    }
  }
}

TEST_CASE("kv cache: to ten digits") {
  const Matrix q = sines({5, 4}, 1, 3, 1), k = cosines({5, 4}, 1, 2, -1), v = sines({5, 3}, 1, 1, 2, 0.5);
  for (const Split& split : {Split{1, 1, 1, 1, 1}, Split{3, 2}, Split{5}}) {
    const Matrix Y = fed(split, q, k, v, {});
    CHECK(difference(rows_of(Y, 4, 1), Matrix{{0.1538533161, -0.2032771662, 0.0153329832}}) == "");
    CHECK(difference(rows_of(Y, 0, 1), Matrix{{0.4794255386, 0.5984721441, -0.9775301177}}) == "");
  }
}

namespace {
struct Layer {
  ParamStore store;
  Rng rng{3};
  MultiHeadAttention attend;
  explicit Layer(int kv_heads) : attend(store, "", 8, 4, rng, Bias::yes, kv_heads) {}
};
}  // namespace

TEST_CASE("kv cache: a whole layer decodes what it computes at once, and holds no more than its heads need") {
  Rng rng(6);
  const Matrix x = random_matrix({6, 8}, rng);
  const Mask causal = Mask::causal(6, 6);
  for (int kv_heads : {4, 2, 1}) {
    Layer layer(kv_heads);
    Tape whole, tape;
    const Matrix want(layer.attend(whole.input(x, "X"), {.mask = &causal}).value());
    KvCache cache(6, 2 * kv_heads, 2 * kv_heads);
    std::size_t lines = 0;
    for (int t = 0; t < 6; ++t) {
      tape.rewind();
      std::vector<Var> weights;
      const Var Y = decode(layer.attend, tape.input(rows_of(x, t, 1), "X"), cache, &weights);
      CHECK(difference(Y.value(), rows_of(want, t, 1), kRounding) == "");
      REQUIRE(weights.size() == 4);
      CHECK(weights[3].shape() == Shape{1, t + 1});
      if (t) CHECK(tape.nodes.size() == lines);  // nothing piles up
      lines = tape.nodes.size();
    }
    CHECK(cache.bytes() == std::size_t(6 * 2 * 2 * kv_heads) * sizeof(Real));
    cache.clear();
    CHECK(cache.bytes() == 0);
    tape.rewind();
    CHECK(difference(decode(layer.attend, tape.input(x, "X"), cache).value(), want, kRounding) == "");  // used again
  }
}

TEST_CASE("kv cache: it holds numbers, so the past gets no gradient, and a new query the same as in the whole pass") {
  Rng rng(7);
  const Matrix q = random_matrix({4, 3}, rng), k = random_matrix({4, 3}, rng), v = random_matrix({4, 2}, rng), dY = random_matrix({4, 2}, rng);
  const Mask causal = Mask::causal(4, 4);
  Tape whole, tape;
  const Var Q = whole.input(q, "Q");
  whole.backward(attention_steps(Q, whole.input(k, "K"), whole.input(v, "V"), &causal), dY);
  KvCache cache(4, 3, 2);
  multi_head_cached(tape.input(rows_of(q, 0, 2), "Q"), tape.input(rows_of(k, 0, 2), "K"), tape.input(rows_of(v, 0, 2), "V"), cache, {});
  tape.rewind();
  const Var new_Q = tape.input(rows_of(q, 2, 2), "Q"), new_K = tape.input(rows_of(k, 2, 2), "K"), new_V = tape.input(rows_of(v, 2, 2), "V");
  tape.backward(multi_head_cached(new_Q, new_K, new_V, cache, {}), rows_of(dY, 2, 2));
  CHECK(difference(new_Q.grad(), Q.grad().block(2, 0, 2, 3), kRounding) == "");
  CHECK_FALSE(new_K.has_grad());
  CHECK_FALSE(tape.find("K cache").has_grad());
  tape.set(new_K, Matrix(Shape{2, 3}));  // copied: what becomes of the line does not matter
  CHECK(difference(cache.keys(tape).value(), k, {0, 0}) == "");
}

TEST_CASE("kv cache: what does not fit is refused, and changes nothing") {
  Tape tape;
  KvCache cache(3, 4, 2);
  const Var K = tape.input(Matrix(Shape{2, 4}), "K"), V = tape.input(Matrix(Shape{2, 2}), "V"), one = tape.input(Matrix(Shape{1, 4}), "one");
  CHECK_THROWS_AS(cache.append(V, V), ShapeError);
  CHECK_THROWS_AS(cache.append(K, K), ShapeError);
  CHECK_THROWS_AS(cache.append(one, V), ShapeError);
  CHECK_THROWS_AS(multi_head_cached(one, K, V, cache, {}), ShapeError);
  CHECK_THROWS_AS(multi_head_cached(K, K, V, cache, {.batch = 2}), ShapeError);
  const Mask mask(2, 2);
  CHECK_THROWS_AS(multi_head_cached(K, K, V, cache, {.mask = &mask}), ShapeError);
  CHECK(cache.tokens == 0);
  cache.append(K, V);
  CHECK_THROWS_WITH(cache.append(K, V), ContainsSubstring("2 more") && ContainsSubstring("2 of 3"));
  CHECK_THROWS_AS(cache.append(K, V), InputError);
  CHECK(cache.tokens == 2);
}
