// Normalised queries and keys, and learned scales: by numbers computed elsewhere, and by what must always hold.
#include "layers/attention/qk_norm.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"
#include "tests/reference_file.h"

using namespace glass;

static Matrix queries() { return sines({5, 4}, 1, 3, 1); }
static Matrix keys() { return cosines({5, 4}, 1, 2, -1); }
static Matrix values() { return sines({5, 3}, 1, 1, 2, 0.5); }
static Matrix upstream() { return cosines({5, 3}, 1, 2, 3, 1); }

namespace {
struct Run {
  Tape tape;
  Var Q = tape.input(queries(), "Q"), K = tape.input(keys(), "K"), V = tape.input(values(), "V"), Y;

  Run(const Variant& variant, const Call& call) : Y(variant(Q, K, V, call)) { tape.backward(Y, upstream()); }
};
}  // namespace

static void check_number(double got, double want) { CHECK(got == Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute)); }

static void check_reference(const Run& run, const ReferenceFile& file, const std::string& name) {
  CHECK(difference(run.Y.value(), file[name + ".Y"]) == "");
  CHECK(difference(run.Q.grad(), file[name + ".dQ"]) == "");
  CHECK(difference(run.K.grad(), file[name + ".dK"]) == "");
  CHECK(difference(run.V.grad(), file[name + ".dV"]) == "");
}

// The gradient of a parameter against differences, without looking at the rule.
static void check_params(ParamStore& store, const Variant& variant, const Call& call) {
  store.zero_grad();
  Run run(variant, call);
  for (std::size_t id = 0; id < run.tape.nodes.size(); ++id) {
    if (!run.tape.nodes[id].param) continue;
    INFO(run.tape.nodes[id].param->name);
    CHECK(gradient_gap(run.tape, run.Y, upstream(), run.tape.var(int(id))).ok());
  }
}

TEST_CASE("qk-norm: RMS with gains, to ten digits") {
  Rng rng(1);
  ParamStore store;
  const RmsQkNorm variant(store, "", 4, rng);
  store.find("gain_q")->set(Matrix{{1, 1.2, 0.8, 1.1}});
  store.find("gain_k")->set(Matrix{{0.9, 1, 1.3, 0.7}});
  const Run run(variant, {});
  CHECK(difference(run.Y.value().block(0, 0, 1, 3), Matrix{{-0.0921006063, -0.0261579147, 0.1138716733}}) == "");
  check_number(fingerprint(run.Q.grad()), -0.403791099388);
  CHECK(difference(store.find("gain_q")->grad, Matrix{{-0.1032019151, -0.2301127927, 0.1287125014, -0.0416310189}}) == "");
  check_params(store, variant, {});
}

TEST_CASE("qk-norm: cosine attention, to ten digits") {
  Rng rng(1);
  ParamStore store;
  const CosineAttention variant(store, "", 1, rng);
  store.find("t")->set(Matrix{{0.4}});
  const Run run(variant, {});
  CHECK(difference(run.Y.value().block(0, 0, 1, 3), Matrix{{-0.0141467017, -0.0626854039, 0.0663193668}}) == "");
  check_number(fingerprint(run.Q.grad()), -0.349476637218);
  check_number(store.find("t")->grad(0, 0), -0.261660049969);
  check_params(store, variant, {});
}

TEST_CASE("qk-norm: PyTorch's values and gradients under a causal mask") {
  const ReferenceFile file("weights.txt");
  const Mask causal = Mask::causal(5, 5);
  Rng rng(1);
  {
    ParamStore store;
    const LayerQkNorm variant(store, "", 4, rng);
    for (const char* name : {"gain_q", "bias_q", "gain_k", "bias_k"}) store.find(name)->set(file[name]);
    check_reference(Run(variant, {.allowed = &causal}), file, "layer");
    for (const char* name : {"gain_q", "bias_q", "gain_k", "bias_k"}) {
      CHECK(difference(store.find(name)->grad, file[std::string("layer.d") + name]) == "");
    }
    check_params(store, variant, {.allowed = &causal});
  }
  {
    ParamStore store;
    const L2QkNorm variant(store, "", 2, rng);
    variant.g->set(Matrix{{1.75}});
    check_reference(Run(variant, {.allowed = &causal}), file, "l2");
    CHECK(difference(variant.g->grad, file["l2.dg"]) == "");
    check_params(store, variant, {.allowed = &causal});
  }
  for (const bool clamped : {false, true}) {
    ParamStore store;
    const CosineAttention variant(store, "", 2, rng);
    variant.t->set(Matrix{{0.5, clamped ? 5 : 1.25}});
    check_reference(Run(variant, {.allowed = &causal, .head = 1, .heads = 2}), file, clamped ? "clamped" : "cosine");
    CHECK(difference(variant.t->grad, file[clamped ? "clamped.dt" : "cosine.dt"]) == "");
    check_params(store, variant, {.allowed = &causal, .head = 1, .heads = 2});
  }
  {
    ParamStore store;
    const LearnedTemperature variant(store, "", 4, rng);
    variant.t->set(Matrix{{0.375}});
    check_reference(Run(variant, {.allowed = &causal}), file, "temperature");
    CHECK(difference(variant.t->grad, file["temperature.dt"]) == "");
    check_params(store, variant, {.allowed = &causal});
  }
}

TEST_CASE("qk-norm: what the parameters are called and where they start") {
  Rng rng(1);
  ParamStore store;
  const RmsQkNorm rms(store, "_1", 4, rng);
  const LayerQkNorm layer(store, "_2", 4, rng);
  const CosineAttention cosine(store, "_3", 3, rng);
  const LearnedTemperature temperature(store, "_4", 64, rng);
  const L2QkNorm l2_50(store, "_50", 50, rng), l2_512(store, "_512", 512, rng);
  CHECK(store.all.size() == 2 + 4 + 1 + 1 + 2);
  CHECK(difference(store.find("gain_k_1")->value, Matrix{{1, 1, 1, 1}}) == "");
  CHECK(all_zero(store.find("bias_k_2")->value));
  CHECK(difference(cosine.t->value, Matrix{{2.30258509299, 2.30258509299, 2.30258509299}}) == "");
  check_number(std::exp(double(temperature.t->value(0, 0))), 0.125);  // 1/√64: it starts as plain attention
  check_number(l2_50.g->value(0, 0), 11.2585660339);
  check_number(l2_512.g->value(0, 0), 17.9971794809);
  CHECK_THROWS_AS(L2QkNorm(store, "_5", 1, rng), InputError);
}

TEST_CASE("qk-norm: a learned temperature starts as plain attention") {
  Rng rng(1);
  ParamStore store;
  const LearnedTemperature variant(store, "", 4, rng);
  const Run learned(variant, {}), plain(plain_attention, {});
  CHECK(difference(learned.Y.value(), plain.Y.value(), kRounding) == "");
  CHECK(difference(learned.Q.grad(), plain.Q.grad(), kRounding) == "");
}

// Q and K times 8: the same result, and dQ and dK are orthogonal to Q and K, row by row. Not so for a learned scale.
static bool only_directions_count(const Variant& variant) {
  Tape tape;
  Matrix q = queries(), k = keys();
  Run run(variant, {});
  double along = 0;
  for (int i = 0; i < 5; ++i) {
    double row = 0;
    for (int j = 0; j < 4; ++j) row += double(q(i, j)) * run.Q.grad()(i, j), q(i, j) *= 8, k(i, j) *= 8;
    along = std::fmax(along, std::fabs(row));
  }
  const Var Y = variant(tape.input(q, "Q"), tape.input(k, "K"), tape.input(values(), "V"));
  const Tolerance loose = kDouble ? Tolerance{1e-5, 1e-5} : Tolerance{1e-4, 1e-4};  // eps = 1e-6 inside a norm leaves a little
  return difference(Y.value(), run.Y.value(), loose) == "" && along < 1e-5;
}

TEST_CASE("qk-norm: only the direction of a query counts, except for a learned scale") {
  Rng rng(1);
  ParamStore store;
  CHECK(only_directions_count(RmsQkNorm(store, "_1", 4, rng)));
  CHECK(only_directions_count(LayerQkNorm(store, "_2", 4, rng)));
  CHECK(only_directions_count(L2QkNorm(store, "_3", 8, rng)));
  CHECK(only_directions_count(CosineAttention(store, "_4", 1, rng)));
  CHECK_FALSE(only_directions_count(LearnedTemperature(store, "_5", 4, rng)));
  CHECK_FALSE(only_directions_count(plain_attention));
}

TEST_CASE("qk-norm: every kind over masks, batches, heads and lengths") {
  Rng rng(1);
  ParamStore store;
  RmsQkNorm rms(store, "_1", 4, rng);
  rms.q.gain->set(Matrix{{1, 1.2, 0.8, 1.1}});
  check_variant(rms);
  check_variant(LayerQkNorm(store, "_2", 4, rng));
  check_variant(L2QkNorm(store, "_3", 8, rng));
  check_variant(CosineAttention(store, "_4", 4, rng));
  check_variant(LearnedTemperature(store, "_5", 4, rng));
}

TEST_CASE("qk-norm: the largest weight that a cosine can give, and why g grows with the length") {
  // one key along the query, n - 1 keys against it: e^g / (e^g + (n - 1) e^-g)
  for (const int n : {2, 6, 100}) {
    for (const double g : {1.0, std::log2(double(n) * n - n)}) {
      Rng rng(1);
      ParamStore store;
      const L2QkNorm variant(store, "", n, rng);
      variant.g->set(Matrix{{g}});
      Matrix k(Shape{n, 2});
      for (int j = 0; j < n; ++j) k(j, 0) = j == 1 ? Real(0.5) : Real(-3);
      Tape tape;
      std::vector<Var> weights;
      const Var V = tape.input(k, "V");
      variant(tape.input(Matrix{{7, 0}}, "Q"), tape.input(k, "K"), V, {.weights = &weights});
      check_number(weights[0].value()(0, 1), std::exp(2 * g) / (std::exp(2 * g) + n - 1));
      if (n == 100) CHECK((weights[0].value()(0, 1) > 0.5) == (g > 1));  // 0.07 and 1.0
    }
  }
}

TEST_CASE("qk-norm: unit rows have length 1, a row of zeros stays zero and sends back something finite") {
  Tape tape;
  const Var X = tape.input(Matrix{{3, 4, 0}, {0, 0, 0}}, "X");
  const Var U = unit_rows(X);
  CHECK(difference(U.value(), Matrix{{0.6, 0.8, 0}, {0, 0, 0}}) == "");
  tape.backward(U, Matrix{{1, 2, 3}, {0, 0, 0}});
  // x̂ · dx̂ = 2.2:  (1 - 0.6 · 2.2, 2 - 0.8 · 2.2, 3) / 5
  CHECK(difference(X.grad(), Matrix{{-0.064, 0.048, 0.6}, {0, 0, 0}}) == "");
  tape.clear_gradients();
  tape.backward(U, Matrix{{0, 0, 0}, {1, 2, 3}});
  for (int j = 0; j < 3; ++j) CHECK(std::isfinite(X.grad()(1, j)));
}

TEST_CASE("qk-norm: a head without a temperature, and gains of another width, are errors") {
  Rng rng(1);
  ParamStore store;
  const CosineAttention cosine(store, "_1", 2, rng);
  const RmsQkNorm rms(store, "_2", 3, rng);
  Tape tape;
  const Var Q = tape.input(queries(), "Q");
  CHECK_THROWS_WITH(cosine(Q, Q, Q, {.head = 2, .heads = 3}),
                    Catch::Matchers::ContainsSubstring("2 heads") && Catch::Matchers::ContainsSubstring("head 2"));
  CHECK_THROWS_AS(cosine(Q, Q, Q, {.head = 2, .heads = 3}), ShapeError);
  CHECK_THROWS_AS(rms(Q, Q, Q), ShapeError);
}
