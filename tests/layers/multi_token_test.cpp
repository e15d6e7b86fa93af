// Multi-token attention: to ten digits, and by what must always hold.
#include "layers/attention/multi_token.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;
using Scaling = MultiTokenSettings::Scaling;

static void check_fingerprint(double got, double want) {
  CHECK(got == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute));
}

static double t(double (*f)(double), int x, int y, int z, double shift) { return f(2.0 * x + 3.0 * y + z + shift); }

// Two heads of five tokens and width 3, kernels of 2 x 3. Everything by formula.
static constexpr int h = 2, n = 5, d = 3, c_q = 2, c_k = 3;

static Matrix side_by_side(double (*f)(double), double shift) {  // n x (h d)
  Matrix m(Shape{n, h * d});
  for (int x = 0; x < h; ++x)
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < d; ++c) m(i, x * d + c) = Real(t(f, x, i, c, shift));
  return m;
}

static Matrix kernels(double (*f)(double), double shift) {  // (h c_q) x c_k
  Matrix m(Shape{h * c_q, c_k});
  for (int x = 0; x < h; ++x)
    for (int a = 0; a < c_q; ++a)
      for (int b = 0; b < c_k; ++b) m(x * c_q + a, b) = Real(0.5 * t(f, x, a, b, shift));
  return m;
}

static const Matrix kQ = side_by_side(std::sin, 0), kK = side_by_side(std::cos, 0.5), kV = side_by_side(std::sin, 1);

static Matrix upstream() {  // cos(0.5 k + 1), counted head after head
  Matrix m(Shape{n, h * d});
  for (int x = 0; x < h; ++x)
    for (int i = 0; i < n; ++i)
      for (int c = 0; c < d; ++c) m(i, x * d + c) = Real(std::cos(0.5 * (x * n * d + i * d + c) + 1));
  return m;
}

static double by_heads(Mat m) {  // the fingerprint, counted head after head
  Matrix all(Shape{h * m.rows, m.cols / h});
  for (int x = 0; x < h; ++x)
    cpu_backend().copy(m.block(0, x * all.cols(), m.rows, all.cols()),
                       all.view().block(x * m.rows, 0, m.rows, all.cols()));
  return fingerprint(all);
}

static MultiTokenSettings small(Scaling scaling = Scaling::gate) {
  return {.c_q = c_q, .c_k = c_k, .scaling = scaling, .layer = 2};
}

namespace {
struct Fixture {
  ParamStore store;
  Rng rng{1};
  MultiToken layer;
  Tape tape;
  Mask causal = Mask::causal(n, n);
  std::vector<Var> weights;
  Var Q, K, V, Y;

  explicit Fixture(Scaling scaling) : layer(store, "", h, d, rng, small(scaling)) {
    layer.scores_kernel->set(kernels(std::cos, 0.2));
    layer.weights_kernel->set(kernels(std::sin, 0.7));
    layer.scores_mix->set(Matrix{{1, 0.25}, {-0.5, 0.75}});
    layer.weights_mix->set(Matrix{{0.8, -0.3}, {0.4, 1.1}});
    layer.gain->set(Matrix{{1, 0.9, 1.1}});
    if (layer.gate) layer.gate->set(Matrix{{0.5}, {-0.25}, {0.75}}), layer.gate_bias->set(Matrix{{0.1}});
  }
  void run(const Matrix& q, const Matrix& k, const Matrix& v) {
    Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    Y = layer(Q, K, V, {.mask = &causal, .weights = &weights});
  }
  Mat line(const char* name, int head) {  // the line of that name in that head
    for (int id = 0, seen = 0;; ++id) {
      if (tape.node(tape.var(id)).name == std::string(name) && seen++ == head) return tape.var(id).value();
    }
  }
};
}  // namespace

TEST_CASE("multi-token: every step to ten digits") {
  Fixture f(Scaling::gate);
  f.run(kQ, kK, kV);
  CHECK(difference(f.line("E0", 0),
                   Matrix{{-0.3862210753, 0, 0, 0, 0},
                          {0.4841350059, -0.3765378213, 0, 0, 0},
                          {-0.5723589710, 0.4759091236, -0.3699339518, 0, 0},
                          {0.6491271675, -0.5657551015, 0.4710594433, -0.3669355272, 0},
                          {-0.7129030792, 0.6442774872, -0.5627566769, 0.4699722879, -0.3677814003}}) == "");
  CHECK(difference(f.line("C", 0), Matrix{{0.0946745308, 0.1927812409, 0, 0, 0},
                                          {-0.2768584369, -0.3386150366, 0.1879478700, 0, 0},
                                          {0.4502997699, 0.2513931441, -0.3313828014, 0.1846515657, 0},
                                          {-0.5353895388, -0.1603737449, 0.2471535754, -0.3264609853, 0.1831549099},
                                          {0.6097634825, 0.1430628047, -0.1574675518, 0.2438920081, -0.3242416574}}) ==
        "");
  CHECK(difference(f.line("A", 0), Matrix{{1, 0, 0, 0, 0},
                                          {0.5341374516, 0.4658625484, 0, 0, 0},
                                          {0.4182968511, 0.3737397058, 0.2079634431, 0, 0},
                                          {0.1808801158, 0.2443723470, 0.3681035424, 0.2066439949, 0},
                                          {0.2944235791, 0.1999572289, 0.1512656182, 0.2265159394, 0.1278376344}}) ==
        "");
  REQUIRE(f.weights.size() == h);
  const Mat P = f.weights[0].value();
  CHECK(difference(P, Matrix{{-0.4606967911, 0, 0, 0, 0},
                             {0.0596422983, -0.0880803283, 0, 0, 0},
                             {0.0901418838, -0.0267057828, -0.0705772529, 0, 0},
                             {0.1172467503, 0.1384682840, -0.0810490433, -0.1346755608, 0},
                             {-0.0227125199, 0.0178940251, 0.1010089167, 0.0032409696, -0.0610502167}}) == "");
  const double sums[] = {-0.4606967911, -0.0284380300, -0.0071411519, 0.0399904301, 0.0383811747};
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += P(i, j);
    check_fingerprint(sum, sums[i]);
  }
  CHECK(difference(f.Y.value().block(0, 0, n, d), Matrix{{-0.4797830587, -0.4666102073, -0.0885089199},
                                                         {0.7114448887, 0.7600253367, 0.2212057026},
                                                         {0.7968527499, 0.5447675888, -0.1570422409},
                                                         {0.4578727242, 0.8404840460, 0.6064000365},
                                                         {0.3832985457, -0.0874457252, -0.5371213773}}) == "");
}

TEST_CASE("multi-token: gradients of all parts to ten digits, with a gate and with depth scaling") {
  Fixture f(Scaling::gate);
  f.run(kQ, kK, kV);
  f.tape.backward(f.Y, upstream());
  check_fingerprint(by_heads(f.Y.value()), -4.61948582269);
  check_fingerprint(by_heads(f.Q.grad()), -0.579881702102);
  check_fingerprint(by_heads(f.K.grad()), -0.175776946391);
  check_fingerprint(by_heads(f.V.grad()), -2.81916673689);
  check_fingerprint(fingerprint(f.layer.scores_kernel->grad), 1.66463825015);
  check_fingerprint(fingerprint(f.layer.weights_kernel->grad), -19.9797991062);
  check_fingerprint(fingerprint(f.layer.scores_mix->grad), -1.90801963089);
  check_fingerprint(fingerprint(f.layer.weights_mix->grad), -10.2287200587);
  check_fingerprint(fingerprint(f.layer.gain->grad), -0.316289911409);
  check_fingerprint(fingerprint(f.layer.gate->grad), -0.460279689546);
  check_fingerprint(fingerprint(f.layer.gate_bias->grad), 0.317521071418);
  for (const char* line : {"Q", "K", "V", "w", "w'", "H", "H'", "gain", "gate", "gate_bias"}) {
    CAPTURE(line);
    CHECK(gradient_gap(f.tape, f.Y, upstream(), f.tape.find(line)).ok());
  }
  Fixture deep(Scaling::depth);
  deep.run(kQ, kK, kV);
  deep.tape.backward(deep.Y, upstream());
  check_fingerprint(by_heads(deep.Y.value()), -4.88695545209);
  check_fingerprint(by_heads(deep.Q.grad()), -0.602377940093);
  const double lambdas[] = {0.2, 0.3555090676, 0.4707130183, 0.5560582042};
  for (int layer = 0; layer < 4; ++layer) CHECK(depth_lambda(layer) == Approx(lambdas[layer]).epsilon(1e-9));
}

TEST_CASE("multi-token: at the start it is plain attention, bit for bit, and then the norm and the gate") {
  ParamStore store;
  Rng rng(2);
  const MultiToken layer(store, "", h, d, rng,
                         {.scaling = Scaling::none});  // kernels of 6 x 11, larger than the matrix
  const Mask causal = Mask::causal(n, n);
  const Heads cut{.heads = h, .mask = &causal};
  HeadsRun plain(plain_attention, kQ, kK, kV, cut, upstream());
  Tape tape;
  const Var Q = tape.input(kQ, "Q"), K = tape.input(kK, "K"), V = tape.input(kV, "V"), Y = layer(Q, K, V, cut);
  tape.backward(Y, upstream());
  CHECK(bit_difference(Y.value(), plain.Y.value()) == "");
  CHECK(difference(Q.grad(), plain.Q.grad(), kRounding) == "");
  CHECK(difference(K.grad(), plain.K.grad(), kRounding) == "");
  CHECK(difference(V.grad(), plain.V.grad(), kRounding) == "");
  CHECK(store.all.size() == 4);
  CHECK(!all_zero(layer.scores_kernel->grad));

  ParamStore other;
  const MultiToken gated(other, "", h, d, rng);
  CHECK(bit_difference(gated.gain->value, Matrix{{1, 1, 1}}) == "");
  CHECK(bit_difference(gated.gate_bias->value, Matrix{{0}}) == "");
  gated.gate->set(Matrix{{0}, {0}, {0}});
  const Var half = gated(Q, K, V, cut);
  for (int i = 0; i < n; ++i) {
    double square = 0;
    for (int c = 0; c < d; ++c) square += double(half.value()(i, c)) * double(half.value()(i, c));
    CHECK(square / d == Approx(0.25).epsilon(1e-2));  // sigmoid(0) of a row with mean square 1
  }
}

TEST_CASE("multi-token: no row sees the future, and without the first mask it does") {
  Matrix q(kQ), k(kK), v(kV);
  for (int i = 3; i < n; ++i)
    for (int c = 0; c < h * d; ++c) q(i, c) += Real(1.7), k(i, c) += Real(1.7), v(i, c) += Real(1.7);
  Fixture before(Scaling::gate), after(Scaling::gate);
  before.run(kQ, kK, kV);
  after.run(q, k, v);
  CHECK(bit_difference(before.Y.value().block(0, 0, 3, h * d), after.Y.value().block(0, 0, 3, h * d)) == "");
  CHECK(bit_difference(before.Y.value().block(3, 0, 1, h * d), after.Y.value().block(3, 0, 1, h * d)) != "");

  const Mask causal = Mask::causal(n, n);
  double change = 0;
  for (int x = 0; x < h; ++x) {
    Matrix leaky[2];
    for (int late = 0; late < 2; ++late) {
      Tape tape;
      const Var Q = tape.constant(late ? q : kQ, "Q"), K = tape.constant(late ? k : kK, "K");
      const Var E = scaled_scores(tape.cols(Q, x * d, d), tape.cols(K, x * d, d), 1 / std::sqrt(double(d)));
      const Var w = tape.constant(kernels(std::cos, 0.2), "w");
      leaky[late] = Matrix(softmax(hide_pairs(conv2d_causal(E, tape.rows(w, x * c_q, c_q)), &causal)).value());
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < n; ++j) change = std::max(change, std::fabs(double(leaky[0](i, j)) - double(leaky[1](i, j))));
  }
  check_fingerprint(change, 0.162578843905);
}

TEST_CASE("multi-token: masking twice hides a little more than the formula that looks at the output query alone") {
  Fixture f(Scaling::gate);
  f.run(kQ, kK, kV);
  const Mat E = f.line("E", 0), C = f.line("C", 0);
  const Matrix w = kernels(std::cos, 0.2);
  int differ = 0;
  double worst = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double exact = 0;
      for (int a = 0; a < c_q; ++a)
        for (int b = 0; b < c_k; ++b) {
          const int query = i - c_q + 1 + a, key = j - 1 + b;
          if (query >= 0 && key >= 0 && key <= i) exact += double(w(a, b)) * double(E(query, key));
        }
      differ += std::fabs(exact - C(i, j)) > 1e-5;
      worst = std::max(worst, std::fabs(exact - C(i, j)));
    }
  }
  CHECK(differ == 8);
  check_fingerprint(worst, 0.0793388110886);
}

TEST_CASE("multi-token: token by token, in chunks and at once give the same rows") {
  Fixture all(Scaling::gate);
  all.run(kQ, kK, kV);
  for (const std::vector<int>& chunks : {std::vector<int>{1, 1, 1, 1, 1}, {2, 3}, {3, 1, 1}, {5}}) {
    Tape tape;
    MultiTokenPast past;
    int done = 0;
    for (const int size : chunks) {
      const Mask mask = Mask::causal(size, done + size);
      const Var q = tape.constant(kQ.view().block(done, 0, size, h * d), "Q");
      const Var k = tape.constant(kK.view().block(0, 0, done + size, h * d), "K"),
                v = tape.constant(kV.view().block(0, 0, done + size, h * d), "V");
      const Var Y = all.layer(q, k, v, {.mask = &mask}, &past);
      CHECK(difference(Y.value(), all.Y.value().block(done, 0, size, h * d), kRounding) == "");
      done += size;
    }
    CHECK(past.tokens == n);
    CHECK(past.scores.size() == h);
    CHECK(past.scores[0].rows() == c_q - 1);
    CHECK(past.weights[1].rows() == c_q - 1);
  }
}

TEST_CASE("multi-token: sequences of a batch are convolved apart, and grouped keys are repeated") {
  Rng rng(5);
  const Matrix q = random_matrix({2 * n, h * d}, rng), k = random_matrix({2 * n, d}, rng),
               v = random_matrix({2 * n, d}, rng);
  Fixture f(Scaling::gate);
  Tape tape;
  const Mask masks[] = {Mask::causal(n, n), Mask::causal(n, n) & Mask::visible({true, true, true, true, false}, n)};
  const Var Y = f.layer(tape.constant(q, "Q"), tape.constant(k, "K"), tape.constant(v, "V"),
                        {.batch = 2, .kv_heads = 1, .mask = masks, .mask_each = true});
  for (int b = 0; b < 2; ++b) {
    const Var Q = tape.constant(q.view().block(b * n, 0, n, h * d), "Q"),
              K = tape.constant(k.view().block(b * n, 0, n, d), "K");
    const Var V = tape.constant(v.view().block(b * n, 0, n, d), "V");
    const Var KK[] = {K, K}, VV[] = {V, V};
    const Var alone = f.layer(Q, concat_cols(KK, 2), concat_cols(VV, 2), {.mask = &masks[b]});
    CHECK(bit_difference(Y.value().block(b * n, 0, n, h * d), alone.value()) == "");
  }
}

TEST_CASE("multi-token: a query that sees nothing gives a row of zeros and sends nothing back") {
  for (const Scaling scaling : {Scaling::gate, Scaling::depth}) {
    Fixture f(scaling);
    f.causal = Mask::causal(n, n) & Mask::visible({false, true, true, true, false}, n);
    f.run(kQ, kK, kV);
    f.tape.backward(f.Y, upstream());
    CHECK(all_zero(f.Y.value().block(0, 0, 1, h * d)));
    CHECK(all_zero(f.Q.grad().block(0, 0, 1, h * d)));
    for (const int key : {0, 4}) {
      CHECK(all_zero(f.K.grad().block(key, 0, 1, h * d)));
      CHECK(all_zero(f.V.grad().block(key, 0, 1, h * d)));
    }
    CHECK(!all_zero(f.Q.grad()));
  }
}

TEST_CASE("multi-token: as a variant over masks, batches, heads and lengths") {
  check_variant(multi_token_attention, {.lengths = {1, 2, 5}});
  MultiTokenHead both;
  both.scores_kernel = kernels(std::cos, 0.2), both.weights_kernel = kernels(std::sin, 0.7);  // as one of 4 x 3
  check_variant(both, {.lengths = {1, 3, 6}});
}
