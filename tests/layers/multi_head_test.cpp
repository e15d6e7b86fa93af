// Several heads: by numbers that were computed elsewhere, and over the whole grid.
#include "layers/attention/multi_head.h"

#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

static void check_fingerprint(Mat got, double want) {
  CHECK(fingerprint(got) == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute));
}

namespace {
// Four tokens of width 8 in four heads, causal.
struct Fixture {
  Tape tape;
  ParamStore store;
  Rng rng{1};
  MultiHeadAttention layer;
  Mask causal = Mask::causal(4, 4);
  Var X, Y;

  explicit Fixture(int kv_heads, const Variant& variant = plain_attention) : layer(store, "", 8, 4, rng, Bias::no, kv_heads) {
    layer.variant = &variant;
    layer.q.W->set(cosines({8, 8}, 0.5, 1, 2));
    layer.k.W->set(sines({8, 2 * kv_heads}, 0.5, 2, 1, 1));
    layer.v.W->set(cosines({8, 2 * kv_heads}, 0.5, 3, -1, 0.5));
    layer.o.W->set(sines({8, 8}, 0.5, 1, -1, 0.25));
    X = tape.input(sines({4, 8}, 1, 3, 1), "X");
    Y = layer(X, {.mask = &causal});
    tape.backward(Y, cosines({4, 8}, 1, 2, 3, 1));
  }
};
}  // namespace

TEST_CASE("multi-head, grouped-query and multi-query attention: to ten digits") {
  struct Want {
    int kv_heads;
    double Y, X, W_q, W_k, W_v, W_o;
    Matrix first, last;
  };
  const Want wants[] = {
      {4, 1.75596711955, 0.0334626441338, -0.113777867563, 0.209376124562, 1.62803126249, 0.25531005791,
       Matrix{{-0.1269671908, 0.5664798650, 0.7391079454, 0.2322035894, -0.4881876759, -0.7597414433, -0.3327924315, 0.4001244071}},
       Matrix{{0.0814686608, 0.0273382401, -0.0519268325, -0.0834506147, -0.0382502867, 0.0421171786, 0.0837623041, 0.0483967535}}},
      {2, -1.4370840682, 0.0890886183389, -0.176144716071, -0.0109481934378, -0.0948387857546, -0.380426166245,
       Matrix{{-0.3377152692, -0.3801196553, -0.0730437834, 0.3011882061, 0.3985091479, 0.1294426169, -0.2586328591, -0.4089224772}},
       Matrix{{0.0655391022, 0.0435832508, -0.0184428404, -0.0635126692, -0.0501892428, 0.0092779419, 0.0602150296, 0.0557906968}}},
      {1, 0.105370451982, 0.0596419095682, -0.0094055271025, 0.988777608791, -1.33823680068, -0.195249893853,
       Matrix{{-0.0680704698, 0.1161903813, 0.1936263316, 0.0930431256, -0.0930835010, -0.1936295860, -0.1161535227, 0.0681135538}},
       Matrix{{0.1067495568, -0.0095688102, -0.1170896571, -0.1169588133, -0.0092965759, 0.1069128905, 0.1248271385, 0.0279758910}}}};
  for (const Want& want : wants) {
    for (const Variant* form : {static_cast<const Variant*>(&plain_attention), static_cast<const Variant*>(&fused_attention)}) {
      CAPTURE(want.kv_heads, form->name());
      Fixture f(want.kv_heads, *form);
      CHECK(difference(f.Y.value().block(0, 0, 1, 8), want.first) == "");
      CHECK(difference(f.Y.value().block(3, 0, 1, 8), want.last) == "");
      check_fingerprint(f.Y.value(), want.Y);
      check_fingerprint(f.X.grad(), want.X);
      check_fingerprint(f.layer.q.W->grad, want.W_q);
      check_fingerprint(f.layer.k.W->grad, want.W_k);
      check_fingerprint(f.layer.v.W->grad, want.W_v);
      check_fingerprint(f.layer.o.W->grad, want.W_o);
    }
  }
}

TEST_CASE("multi-head: plain and fused over masks, batches, heads and lengths") {
  check_variant(plain_attention);
  check_variant(fused_attention, {.same_as_plain = true});
}

TEST_CASE("multi-head: weights on request come from the same lines, and nothing else changes") {
  Rng rng(3);
  const Matrix q = random_matrix({6, 4}, rng), k = random_matrix({6, 2}, rng), v = random_matrix({6, 2}, rng), dY = random_matrix({6, 4}, rng);
  for (const Variant* form : {static_cast<const Variant*>(&plain_attention), static_cast<const Variant*>(&fused_attention)}) {
    std::vector<Var> weights;
    Heads cut{.batch = 2, .heads = 2, .kv_heads = 1};
    HeadsRun without(*form, q, k, v, cut, dY);
    cut.weights = &weights;
    HeadsRun with(*form, q, k, v, cut, dY);
    CHECK(bit_difference(with.Y.value(), without.Y.value()) == "");
    CHECK(bit_difference(with.K.grad(), without.K.grad()) == "");
    REQUIRE(weights.size() == 4);
    for (const Var A : weights) CHECK(A.shape() == Shape{3, 3});
    const Matrix first(weights[0].value());
    Matrix y(Shape{3, 2});
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        for (int c = 0; c < 2; ++c) y(i, c) += first(i, j) * v(j, c);
    CHECK(difference(with.Y.value().block(0, 0, 3, 2), y, kRounding) == "");
  }
}

TEST_CASE("multi-head: sizes that cannot be cut are errors") {
  Tape tape;
  const Var X = tape.input(Matrix(Shape{4, 6}), "X");
  CHECK_THROWS_AS(multi_head(X, X, X, {.batch = 3}), ShapeError);
  CHECK_THROWS_AS(multi_head(X, X, X, {.heads = 4}), ShapeError);
  CHECK_THROWS_AS(multi_head(X, X, X, {.heads = 3, .kv_heads = 2}), ShapeError);
  CHECK(tape.nodes.size() == 1);  // nothing was recorded
}

static Matrix columns(Mat x, int first, int n) { return Matrix(x.block(0, first, x.rows, n)); }

TEST_CASE("multi-head: one projection cut up is one projection per head, values and all gradients") {
  Fixture f(4);
  const MultiHeadAttention& whole = f.layer;
  const Matrix dY = cosines({4, 8}, 1, 2, 3, 1);
  Tape tape;
  const Var X = tape.input(f.X.value(), "X");
  std::vector<Var> parts, W;  // of head a: W_q, W_k, W_v, W_o
  Var Y;
  for (int a = 0; a < 4; ++a) {
    for (const Linear* l : {&whole.q, &whole.k, &whole.v}) W.push_back(tape.input(columns(l->W->value, 2 * a, 2), "W"));
    W.push_back(tape.input(Matrix(whole.o.W->value.view().block(2 * a, 0, 2, 8)), "W_o"));
    const Var* w = &W[std::size_t(4 * a)];
    const Var part = matmul(attention_steps(matmul(X, w[0]), matmul(X, w[1]), matmul(X, w[2]), &f.causal), w[3]);
    Y = a ? add(Y, part) : part;  // [head 0 | head 1 | ...] W_o is the sum of head_a W_o[rows of a]
  }
  tape.backward(Y, dY);
  CHECK(difference(Y.value(), f.Y.value(), kRounding) == "");
  CHECK(difference(X.grad(), f.X.grad(), kRounding) == "");
  for (int a = 0; a < 4; ++a) {
    const Var* w = &W[std::size_t(4 * a)];
    CHECK(difference(w[0].grad(), columns(whole.q.W->grad, 2 * a, 2), kRounding) == "");
    CHECK(difference(w[1].grad(), columns(whole.k.W->grad, 2 * a, 2), kRounding) == "");
    CHECK(difference(w[2].grad(), columns(whole.v.W->grad, 2 * a, 2), kRounding) == "");
    CHECK(difference(w[3].grad(), whole.o.W->grad.view().block(2 * a, 0, 2, 8), kRounding) == "");
  }
}

TEST_CASE("multi-head: shared key heads are copies of one, and its gradient is the sum over the copies") {
  for (const int kv_heads : {1, 2}) {
    Fixture shared(kv_heads);
    ParamStore store;
    Rng rng(1);
    const MultiHeadAttention full(store, "", 8, 4, rng);
    full.q.W->set(shared.layer.q.W->value);
    full.o.W->set(shared.layer.o.W->value);
    Matrix wk(Shape{8, 8}), wv(Shape{8, 8});
    for (int c = 0; c < 8; ++c) {
      const int from = c / 2 / (4 / kv_heads) * 2 + c % 2;  // head c / 2 reads key head (c / 2) / share
      for (int r = 0; r < 8; ++r) wk(r, c) = shared.layer.k.W->value(r, from), wv(r, c) = shared.layer.v.W->value(r, from);
    }
    full.k.W->set(wk);
    full.v.W->set(wv);
    Tape tape;
    const Var X = tape.input(shared.X.value(), "X"), Y = full(X, {.mask = &shared.causal});
    tape.backward(Y, cosines({4, 8}, 1, 2, 3, 1));
    Matrix dk(Shape{8, 2 * kv_heads}), dv(dk.shape());
    for (int c = 0; c < 8; ++c) {
      const int from = c / 2 / (4 / kv_heads) * 2 + c % 2;
      for (int r = 0; r < 8; ++r) dk(r, from) += full.k.W->grad(r, c), dv(r, from) += full.v.W->grad(r, c);
    }
    CHECK(difference(Y.value(), shared.Y.value(), kRounding) == "");
    CHECK(difference(X.grad(), shared.X.grad(), kRounding) == "");
    CHECK(difference(full.q.W->grad, shared.layer.q.W->grad, kRounding) == "");
    CHECK(difference(full.o.W->grad, shared.layer.o.W->grad, kRounding) == "");
    CHECK(difference(dk, shared.layer.k.W->grad, kRounding) == "");
    CHECK(difference(dv, shared.layer.v.W->grad, kRounding) == "");
  }
}

TEST_CASE("multi-head: one head is attention, bit for bit") {
  Rng rng(6);
  const Matrix q = random_matrix({3, 4}, rng), k = random_matrix({5, 4}, rng), v = random_matrix({5, 2}, rng), dY = random_matrix({3, 2}, rng);
  HeadsRun one(plain_attention, q, k, v, {}, dY);
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V"), Y = attention_steps(Q, K, V);
  tape.backward(Y, dY);
  CHECK(bit_difference(one.Y.value(), Y.value()) == "");
  CHECK(bit_difference(one.Q.grad(), Q.grad()) == "");
  CHECK(bit_difference(one.K.grad(), K.grad()) == "");
  CHECK(bit_difference(one.V.grad(), V.grad()) == "");
}

static long numbers_of(int C, int heads, int kv_heads) {
  ParamStore store;
  Rng rng(1);
  MultiHeadAttention(store, "", C, heads, rng, Bias::no, kv_heads);
  long n = 0;
  for (const Param& p : store.all) n += long(count(p.value.shape()));
  return n;
}

TEST_CASE("multi-head: 4 C C numbers whatever the number of heads is; grouped heads have fewer") {
  for (const int heads : {1, 2, 4, 8}) CHECK(numbers_of(8, heads, 0) == 4 * 8 * 8);
  CHECK(numbers_of(8, 4, 2) == 2 * 64 + 2 * 64 * 2 / 4);
  CHECK(numbers_of(8, 4, 1) == 2 * 64 + 2 * 64 * 1 / 4);
}

TEST_CASE("multi-head: a head is a block of columns, not of memory") {
  // Q, 3 x 4, read as 2 heads x 3 x 2 without moving a number: head 0 would be tokens 0 and half of 1, cut into rows of 2.
  Rng rng(7);
  const Matrix q = random_matrix({3, 4}, rng), k = random_matrix({3, 4}, rng), v = random_matrix({3, 4}, rng);
  HeadsRun right(plain_attention, q, k, v, {.heads = 2}, Matrix(Shape{3, 4}));
  Matrix blocks[3] = {Matrix(Shape{3, 2}), Matrix(Shape{3, 2}), Matrix(Shape{3, 2})}, columns_of[3] = {columns(q, 0, 2), columns(k, 0, 2), columns(v, 0, 2)};
  const Matrix* whole[] = {&q, &k, &v};
  for (int x = 0; x < 3; ++x)
    for (int at = 0; at < 6; ++at) blocks[x](at / 2, at % 2) = (*whole[x])(at / 4, at % 4);
  Tape tape;
  const Var scrambled = attention_steps(tape.constant(blocks[0], "Q"), tape.constant(blocks[1], "K"), tape.constant(blocks[2], "V"));
  const Var head_0 = attention_steps(tape.constant(columns_of[0], "Q"), tape.constant(columns_of[1], "K"), tape.constant(columns_of[2], "V"));
  CHECK(bit_difference(right.Y.value().block(0, 0, 3, 2), head_0.value()) == "");
  CHECK(scrambled.shape() == head_0.shape());
  CHECK(difference(right.Y.value().block(0, 0, 3, 2), scrambled.value()) != "");
}
