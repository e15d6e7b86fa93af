// Attention in tiles: by numbers that were computed elsewhere, over the whole grid, and against the plain form for every tile.
#include "layers/attention/flash.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

// Eight tokens, queries of width 4, values of width 3.
static const Matrix kQ = sines({8, 4}, 1, 3, 1), kK = cosines({8, 4}, 1, 2, -1), kV = sines({8, 3}, 1, 1, 2, 0.5);
static const Matrix kG = cosines({8, 3}, 1, 2, 3, 1);

static void check_fingerprint(Mat got, double want) { CHECK(fingerprint(got) == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute)); }

namespace {
// One run, forward and backward. dL: the gradient of L, or nothing.
struct Run {
  Tape tape;
  Var Q, K, V, y;

  Run(const Tiling& tiling, const Matrix& dy, const Matrix& q = kQ, const Matrix& k = kK, const Matrix& v = kV) {
    Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    y = flash_attention(Q, K, V, 1 / std::sqrt(double(q.cols())), tiling);
    tape.backward(y, dy);
  }
};
}  // namespace

static FlashAttention in_tiles(int queries, int keys, double tau = 0) {
  FlashAttention flash;
  flash.queries = queries, flash.keys = keys, flash.tau = tau;
  return flash;
}

static OnlineSoftmax in_steps(int keys) {
  OnlineSoftmax online;
  online.keys = keys;
  return online;
}

static Matrix column(std::initializer_list<double> values) {
  Matrix m(Shape{int(values.size()), 1});
  int i = 0;
  for (double v : values) m(i++, 0) = Real(v);
  return m;
}

TEST_CASE("flash: values and gradients to ten digits, whatever the tile") {
  const Matrix last{{0.1313353104, 0.1410559193, -0.2487352596}};
  for (int queries : {1, 2, 3, 5, 8, 100}) {
    for (int keys : {1, 2, 3, 5, 8, 100}) {
      CAPTURE(queries, keys);
      Run all({.queries = queries, .keys = keys}, kG), causal({.queries = queries, .keys = keys, .causal = true}, kG);
      CHECK(difference(all.y.value().block(7, 0, 1, 3), last) == "");
      CHECK(difference(causal.y.value().block(7, 0, 1, 3), last) == "");
      check_fingerprint(all.y.value(), 0.149982177237);
      check_fingerprint(all.Q.grad(), -0.0732240286508);
      check_fingerprint(all.K.grad(), 0.0210328244242);
      check_fingerprint(all.V.grad(), -0.340225189492);
      check_fingerprint(causal.y.value(), 0.0905789022364);
      check_fingerprint(causal.Q.grad(), 0.376016527643);
      check_fingerprint(causal.K.grad(), 0.134401950683);
      check_fingerprint(causal.V.grad(), 0.0506508609665);
    }
  }
}

TEST_CASE("flash: L is the log-sum-exp, D the row sum of dY and Y, and of the weights and their gradient") {
  Run all({.queries = 2, .keys = 3}, kG), causal({.queries = 3, .keys = 2, .causal = true}, kG);
  CHECK(difference(flash_fields(all.y).L,
                   column({2.3029582272, 2.1719464097, 2.2951789173, 2.2631684061, 2.2894395134, 2.3775561989, 2.2832689274, 2.4799818161})) == "");
  CHECK(difference(flash_fields(all.y).D,
                   column({-0.0716085900, 0.1236488423, 0.0566719907, -0.1891927298, -0.0262753694, 0.0820884550, -0.0238731012, 0.1296073122})) == "");
  CHECK(difference(flash_fields(causal.y).L,
                   column({-0.0317301417, 0.5191737520, 1.3162825258, 1.6823785500, 1.8677669977, 2.0010807189, 2.1176193561, 2.4799818161})) == "");
  CHECK(difference(flash_fields(causal.y).D,
                   column({-0.8691149347, 0.5385524181, 0.2744975714, 0.4853025265, -0.3233649356, -0.0316963097, -0.0385495645, 0.1296073122})) == "");
  Tape tape;
  const Var Q = tape.input(kQ, "Q"), K = tape.input(kK, "K"), V = tape.input(kV, "V");
  const Var Y = attention_steps(Q, K, V);
  tape.backward(Y, kG);
  CHECK(difference(log_sum_exp(tape.find("E")).value(), flash_fields(all.y).L, kRounding) == "");
  const Var A = tape.find("A");
  Matrix D(Shape{8, 1});
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) D(i, 0) += A.value()(i, j) * A.grad()(i, j);
  CHECK(difference(flash_fields(all.y).D, D, kRounding) == "");
}

TEST_CASE("flash: L is a result of its own, with a gradient") {
  Matrix dy(Shape{8, 4});
  for (int i = 0; i < 8; ++i) {
    for (int c = 0; c < 3; ++c) dy(i, c) = kG(i, c);
    dy(i, 3) = Real(std::cos(i));
  }
  for (bool causal : {false, true}) {
    Run run({.queries = 2, .keys = 3, .causal = causal, .with_L = true}, dy);
    for (Var x : {run.Q, run.K, run.V}) CHECK(gradient_gap(run.tape, run.y, dy, x).ok());

    Tape tape;  // the same with a log_sum_exp beside attention
    const Var Q = tape.input(kQ, "Q"), K = tape.input(kK, "K"), V = tape.input(kV, "V");
    const Mask mask = Mask::causal(8, 8);
    const Var E = hide_pairs(scaled_scores(Q, K, 0.5), causal ? &mask : nullptr);
    const Var parts[] = {matmul(softmax(E), V), log_sum_exp(E)};
    tape.backward(concat_cols(parts, 2), dy);
    CHECK(difference(run.Q.grad(), Q.grad(), kRounding) == "");
    CHECK(difference(run.K.grad(), K.grad(), kRounding) == "");
    CHECK(difference(run.V.grad(), V.grad(), kRounding) == "");
  }
}

TEST_CASE("flash: over masks, batches, heads and lengths, in steps and in one op") {
  for (int tile : {2, 3}) {
    const Grid grid{.same_as_plain = true, .lengths = {1, 2, tile - 1, tile, tile + 1, 3 * tile + 1}};
    check_variant(in_tiles(tile, tile), grid);
    check_variant(in_steps(tile), grid);
  }
  check_variant(in_tiles(3, 1), {.same_as_plain = true, .d = 3, .d_v = 5});
  check_variant(in_tiles(1, 4, 3), {.same_as_plain = true, .d = 5, .d_v = 2});
}

TEST_CASE("flash: tiles that are hidden altogether are skipped, whatever the mask") {
  Run all({.queries = 2, .keys = 2}, kG), causal({.queries = 2, .keys = 2, .causal = true}, kG);
  CHECK(flash_fields(all.y).tiles == 16);
  CHECK(flash_fields(causal.y).tiles == 10);
  Mask few(8, 8, false);
  few.set(0, 0, true), few.set(3, 2, true), few.set(7, 6, true), few.set(7, 7, true);
  CHECK(flash_fields(Run({.queries = 2, .keys = 2, .keep = few.keep()}, kG).y).tiles == 3);
  const Mask padding = Mask::visible({true, true, true, false, false, false, false, true}, 1);
  CHECK(flash_fields(Run({.queries = 2, .keys = 2, .keep = padding.keep()}, kG).y).tiles == 12);
  CHECK(flash_fields(Run({.queries = 2, .keys = 2, .causal = true, .keep = padding.keep()}, kG).y).tiles == 4 + 3 + 1);

  // The variant says a mask as shortly as it can be said.
  Tape tape;
  const Var Q = tape.input(kQ, "Q"), K = tape.input(kK, "K"), V = tape.input(kV, "V");
  for (const Mask& mask : {Mask::causal(8, 8), Mask::causal(8, 8) & Mask::visible({true, true, true, false, false, false, false, true}, 8), few}) {
    const Var Y = in_tiles(2, 2)(Q, K, V, {.allowed = &mask});
    const bool any = !mask.is_causal();
    CHECK(flash_fields(Y).tiles == (any ? 3 : mask(7, 4) ? 10 : 8));
  }
}

TEST_CASE("flash: fewer queries than keys are the last ones, under the causal flag too") {
  const Matrix q(kQ.view().block(6, 0, 2, 4)), dy(kG.view().block(6, 0, 2, 3));
  Run all({.queries = 2, .keys = 3, .causal = true}, kG), last({.queries = 1, .keys = 3, .causal = true}, dy, q);
  CHECK(difference(last.y.value(), all.y.value().block(6, 0, 2, 3), kRounding) == "");
  CHECK(difference(last.Q.grad(), all.Q.grad().block(6, 0, 2, 4), kRounding) == "");
  const Matrix k(kK.view().block(0, 0, 3, 4)), v(kV.view().block(0, 0, 3, 3));  // more queries than keys: the first five see nothing
  Run ahead({.queries = 3, .keys = 2, .causal = true}, kG, kQ, k, v);
  CHECK(all_zero(ahead.y.value().block(0, 0, 5, 3)));
  CHECK(all_zero(ahead.Q.grad().block(0, 0, 5, 4)));
  CHECK(!all_zero(ahead.y.value().block(5, 0, 1, 3)));
}

TEST_CASE("flash: rescaling only when the maximum grows by more than tau changes nothing but the count") {
  Matrix q(kQ), k(kK);
  cpu_backend().scale(kQ, 4, q), cpu_backend().scale(kK, 4, k);
  Run always({.queries = 8, .keys = 1}, kG, q, k), seldom({.queries = 8, .keys = 1, .tau = 8 * std::log(2)}, kG, q, k);
  CHECK(flash_fields(always.y).rescalings == 12);
  CHECK(flash_fields(seldom.y).rescalings == 5);
  CHECK(difference(seldom.y.value(), always.y.value(), kRounding) == "");
  CHECK(difference(flash_fields(seldom.y).L, flash_fields(always.y).L, kRounding) == "");
  CHECK(difference(seldom.Q.grad(), always.Q.grad(), kRounding) == "");
  CHECK(difference(seldom.K.grad(), always.K.grad(), kRounding) == "");
  CHECK(difference(seldom.V.grad(), always.V.grad(), kRounding) == "");
}

TEST_CASE("flash: the weights, if they are wanted, come from L and have a gradient") {
  Rng rng(4);
  const Matrix q = random_matrix({5, 3}, rng), k = random_matrix({6, 3}, rng), v = random_matrix({6, 2}, rng), dY = random_matrix({5, 2}, rng);
  Mask mask = Mask::causal(5, 6);
  for (int j = 0; j < 6; ++j) mask.set(2, j, false);  // query 2 sees nothing
  for (const Mask* allowed : {static_cast<const Mask*>(nullptr), static_cast<const Mask*>(&mask)}) {
    Matrix seen[2][2];  // plain or flash: A, dQ
    for (bool flash : {false, true}) {
      Tape tape;
      const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
      std::vector<Var> weights;
      const Variant& form = flash ? static_cast<const Variant&>(in_tiles(2, 4)) : plain_attention;
      const Var Y = form(Q, K, V, {.allowed = allowed, .weights = &weights});
      REQUIRE(weights.size() == 1);
      const Var cost = add(sum(mul(weights[0], weights[0])), sum(mul(Y, tape.constant(dY, "dY"))));  // uses Y and A
      tape.backward(cost);
      seen[flash][0] = Matrix(weights[0].value()), seen[flash][1] = Matrix(Q.grad());
      CHECK(gradient_gap(tape, cost, Matrix{{1}}, Q).ok());
      CHECK(gradient_gap(tape, cost, Matrix{{1}}, K).ok());
    }
    CHECK(difference(seen[true][0], seen[false][0], kRounding) == "");
    CHECK(difference(seen[true][1], seen[false][1], kRounding) == "");
  }
}

TEST_CASE("flash: the steps can be looked at, and show what the erratum would do") {
  Tape tape;  // scores 1 3 2 5 4, values 1 to 5, two keys at a time
  const Var Q = tape.constant(Matrix{{1}}, "Q"), K = tape.input(column({1, 3, 2, 5, 4}), "K"), V = tape.input(column({1, 2, 3, 4, 5}), "V");
  const Var Y = in_steps(2)(Q, K, V);
  const double trace[3][4] = {{3, 0, 1.13533528324, 2.13533528324}, {5, 0.135335283237, 1.20343799049, 4.43834741047}, {5, 1, 1.57131743166, 6.27774461632}};
  const char* lines[3][4] = {{"m 0", "a 0", "l 0", "acc 0"}, {"m 1", "a 1", "l 1", "acc 1"}, {"m 2", "a 2", "l 2", "acc 2"}};
  double inverse = 0;
  for (int t = 0; t < 3; ++t) {
    for (int k = 0; k < 4; ++k) {
      INFO(lines[t][k]);
      CHECK(difference(tape.find(lines[t][k]).value(), Matrix{{trace[t][k]}}) == "");
    }
    const double old = t ? trace[t - 1][3] : 0, fresh = trace[t][3] - trace[t][1] * old;
    inverse = (t ? inverse / trace[t][1] : 0) + fresh;
  }
  CHECK(difference(Y.value(), Matrix{{3.99521095472}}) == "");
  CHECK(difference(tape.find("L").value(), Matrix{{5.45191439594}}) == "");
  CHECK(inverse / trace[2][2] == Approx(13.852624664).epsilon(1e-9));
}

// Bytes of values, scratch and gradients on the tape.
static double memory_of(const Variant& variant, int n) {
  Tape tape;
  tape.scratch({4096, 1024});  // one large block, so that the mark counts from its beginning
  tape.rewind();
  Rng rng(1);
  const Var Q = tape.input(random_matrix({n, 4}, rng), "Q"), K = tape.input(random_matrix({n, 4}, rng), "K");
  const Var V = tape.input(random_matrix({n, 4}, rng), "V"), Y = variant(Q, K, V);
  tape.backward(Y, random_matrix({n, 4}, rng));
  REQUIRE(tape.mark().values.block == 0);
  double bytes = double(tape.mark().values.used);
  for (const Node& line : tape.nodes)
    if (line.grad.data && line.view_of < 0) bytes += double(line.grad.rows) * line.grad.cols * sizeof(Real);
  return bytes;
}

static double exponent(const Variant& variant) { return std::log(memory_of(variant, 512) / memory_of(variant, 64)) / std::log(8.0); }

TEST_CASE("flash: the memory of a tape grows like n, that of the steps and of the fused form like n²") {
  CHECK(exponent(in_tiles(16, 16)) < 1.1);
  CHECK(exponent(in_tiles(16, 16)) > 0.8);
  CHECK(exponent(plain_attention) > 1.8);
  CHECK(exponent(fused_attention) > 1.8);
  CHECK(exponent(in_steps(16)) > 1.6);  // on a tape the steps keep every tile
}

TEST_CASE("flash: no keys give rows of zeros, no queries no rows") {
  Run no_keys({}, Matrix(Shape{2, 3}), Matrix{{1, 2}, {3, 4}}, Matrix(Shape{0, 2}), Matrix(Shape{0, 3}));
  CHECK(all_zero(no_keys.y.value()));
  CHECK(all_zero(no_keys.Q.grad()));
  Run no_queries({}, Matrix(Shape{0, 3}), Matrix(Shape{0, 2}), Matrix{{1, 2}}, Matrix{{3, 4, 5}});
  CHECK(all_zero(no_queries.V.grad()));
}

TEST_CASE("flash: what a query may not see may hold anything, even for the others") {
  const Mask causal = Mask::causal(8, 8);
  Matrix k(kK), v(kV);
  for (int c = 0; c < 4; ++c) k(7, c) = std::numeric_limits<Real>::quiet_NaN();
  for (int c = 0; c < 3; ++c) v(7, c) = std::numeric_limits<Real>::infinity();
  Tape tape;
  tape.watch_nonfinite = false;
  const Var Q = tape.input(kQ, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  const Var Y = in_tiles(3, 3)(Q, K, V, {.allowed = &causal});
  const Run clean({.queries = 3, .keys = 3, .causal = true}, kG);
  CHECK(bit_difference(Y.value().block(0, 0, 7, 3), clean.y.value().block(0, 0, 7, 3)) == "");
  CHECK(std::isnan(Y.value()(7, 0)));  // query 7 sees it, and is not made a zero row
}

TEST_CASE("flash: all heads of all sequences are one line, with the numbers of head by head") {
  Rng rng(9);
  const int n = 5, m = 6;
  const Matrix q = random_matrix({2 * n, 12}, rng), k = random_matrix({2 * m, 6}, rng), v = random_matrix({2 * m, 4}, rng), dY = random_matrix({2 * n, 8}, rng);
  const Mask causal = Mask::causal(n, m), padding = Mask::visible({true, true, false, true, true, false}, n);
  Mask any(n, m);
  any.set(1, 2, false), any.set(4, 0, false);
  const std::vector<std::vector<Mask>> masks = {{Mask(n, m)}, {causal}, {any}, {causal, causal & padding}, {padding, Mask(n, m)}, {any, causal}, {causal & padding}};
  for (const std::vector<Mask>& some : masks) {
    CAPTURE(some.size(), some[0].is_causal(), some[0].is_padding());
    Heads cut{.batch = 2, .heads = 4, .kv_heads = 2, .mask = some.data(), .mask_each = some.size() == 2};
    HeadsRun whole(in_tiles(2, 3), q, k, v, cut, dY);
    CHECK(whole.tape.nodes.size() == 4);  // Q, K, V, Y
    std::vector<Var> weights;
    cut.weights = &weights;
    HeadsRun parts(in_tiles(2, 3), q, k, v, cut, dY);
    CHECK(weights.size() == 8);
    CHECK(difference(whole.Y.value(), parts.Y.value(), kRounding) == "");
    CHECK(difference(whole.Q.grad(), parts.Q.grad(), kRounding) == "");
    CHECK(difference(whole.K.grad(), parts.K.grad(), kRounding) == "");
    CHECK(difference(whole.V.grad(), parts.V.grad(), kRounding) == "");
  }
  const Mask wrong(n, m + 1);
  Tape tape;
  const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
  CHECK_THROWS_WITH(multi_head(Q, K, V, {.batch = 2, .heads = 4, .kv_heads = 2, .mask = &wrong}, in_tiles(2, 2)), ContainsSubstring("the mask is 5 x 7"));
  CHECK(tape.nodes.size() == 3);
}

TEST_CASE("flash: sizes and settings that do not fit are errors") {
  Tape tape;
  const Var Q = tape.input(Matrix(Shape{2, 4}), "Q"), K = tape.input(Matrix(Shape{3, 4}), "K"), V = tape.input(Matrix(Shape{3, 5}), "V");
  const std::size_t before = tape.nodes.size();
  CHECK_THROWS_AS(in_tiles(2, 2)(Q, V, V), ShapeError);
  CHECK_THROWS_AS(in_tiles(2, 2)(Q, K, Q), ShapeError);
  CHECK_THROWS_WITH(in_tiles(0, 2)(Q, K, V), ContainsSubstring("0 x 2"));
  CHECK_THROWS_AS(in_tiles(2, -1)(Q, K, V), InputError);
  CHECK_THROWS_AS(in_tiles(2, 2, -1)(Q, K, V), InputError);
  CHECK_THROWS_AS(in_tiles(2, 2, 61)(Q, K, V), InputError);
  CHECK_THROWS_AS(in_tiles(2, 2, std::nan(""))(Q, K, V), InputError);
  CHECK_THROWS_AS(in_steps(0)(Q, K, V), InputError);
  CHECK_THROWS_AS(flash_attention(Q, K, V, 1, {.batch = 0}), InputError);
  CHECK_THROWS_AS(flash_attention(Q, K, V, 1, {.heads = 3, .kv_heads = 2}), InputError);
  const Mask mask(2, 3);
  CHECK_THROWS_WITH(flash_attention(Q, K, V, 1, {.keep = mask.keep(), .masks = 2}), ContainsSubstring("1 mask"));
  CHECK(tape.nodes.size() == before);
  std::vector<Var> weights;
  CHECK_THROWS_AS(in_steps(2)(Q, K, V, {.weights = &weights}), ShapeError);
  CHECK_THROWS_AS(flash_fields(Q), TapeError);
}
