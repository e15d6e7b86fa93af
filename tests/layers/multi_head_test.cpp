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
