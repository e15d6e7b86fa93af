// Theme K: long sums, and the checker of gradients. Each test is named after its case.
#include <cmath>
#include <vector>

#include "engine/gradcheck.h"
#include "engine/ops.h"
#include "layers/attention/self_attention.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static Real value(Var x) { return x.value()(0, 0); }

TEST_CASE("K01 twenty million ones add up to twenty million: float does not stop at 2^24") {
  const int n = 20000000;
  const std::vector<Real> ones(std::size_t(n), 1);
  Real* const data = const_cast<Real*>(ones.data());
  Tape tape;
  tape.watch_nonfinite = false;
  const Var row = tape.expose(Mat{data, 1, n, n}, "row");  // shown, not copied
  CHECK(value(sum(row)) == n);
  CHECK(value(row_sum(row)) == n);
  CHECK(value(mean(row)) == 1);
  CHECK(value(row_mean(row)) == 1);

  const Var tall = tape.expose(Mat{data, n, 2, 0}, "tall");  // all its rows are the same two ones
  CHECK(value(sum(tall)) == 2 * n);
  CHECK(difference(col_sum(tall).value(), Matrix{{double(n), double(n)}}, {0, 0}) == "");
  CHECK(difference(col_mean(tall).value(), Matrix{{1, 1}}, {0, 0}) == "");
}

TEST_CASE("K03 a small number among large ones that cancel is not lost") {
  Matrix x(Shape{1, 3000});
  for (int i = 0; i < x.cols(); ++i) x(0, i) = Real(i % 3 == 0 ? 1e8 : i % 3 == 1 ? 1 : -1e8);
  Tape tape;
  const Var X = tape.input(x, "x");
  CHECK(value(sum(X)) == 1000);
  CHECK(value(row_sum(X)) == 1000);
  CHECK(value(col_sum(transpose(X))) == 1000);
}

// ---- the checker: 100 right layers pass, the same with a backward that is 1 % too large never do

namespace {
struct TooLargeOp final : Op {  // y = x, and dx = 1.01 dy
  const char* name() const override { return "too_large"; }
  void forward(Step& s) override { s.be.copy(s.x[0], s.y); }
  void backward(Step& s) override { s.be.add_scaled(Real(1.01), s.dy, s.dx[0]); }
};
}  // namespace

static Var record_linear(Tape& tape, ParamStore& store, Rng& rng, std::uint64_t) {
  const Linear layer(store, "", 2, 1, rng);
  return layer(tape.input(random_matrix({3, 2}, rng), "X"));
}

static Var record_layer_norm(Tape& tape, ParamStore& store, Rng& rng, std::uint64_t seed) {
  const LayerNorm layer(store, "", 4, rng);
  layer.gain->set(random_matrix({1, 4}, rng));
  const Var X = tape.input(random_matrix({3, 4}, rng), "X");
  return seed % 2 ? layer(X) : layer_norm_steps(X, tape.use(*layer.gain), tape.use(*layer.bias));
}

static Var record_attention(Tape& tape, ParamStore& store, Rng& rng, std::uint64_t seed) {
  SelfAttention attend(store, 4, 3, 2, rng);
  attend.form = seed % 2 ? SelfAttention::Form::fused : SelfAttention::Form::steps;
  return attend(tape.input(random_matrix({4, 4}, rng), "X"));
}

static void check_100_seeds(Var (*record)(Tape&, ParamStore&, Rng&, std::uint64_t), std::initializer_list<const char*> names) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (bool faulty : {false, true}) {
      Tape tape;
      Rng rng(seed);
      ParamStore store;
      Var Y = record(tape, store, rng, seed);
      if (faulty) Y = tape.record<TooLargeOp>(Y.shape(), {Y}, {});
      const Matrix dY = random_matrix(Y.shape(), rng);
      tape.backward(Y, dY);
      for (const char* name : names) {
        const GradGap gap = gradient_gap(tape, Y, dY, tape.find(name));
        INFO("seed " << seed << ", " << name << (faulty ? ", too large: " : ": ") << gap.taped << " and " << gap.numeric);
        CHECK(gap.ok() == !faulty);
      }
    }
  }
}

TEST_CASE("K05 the checker raises no false alarm over 100 linear layers 2 -> 1, and finds 1 % in each") {
  check_100_seeds(record_linear, {"X", "W", "b"});
}

TEST_CASE("K05 the checker raises no false alarm over 100 layer norms, and finds 1 % in each") {
  check_100_seeds(record_layer_norm, {"X", "gain", "bias"});
}

TEST_CASE("K05 the checker raises no false alarm over 100 heads of attention, and finds 1 % in each") {
  check_100_seeds(record_attention, {"X", "W_q", "W_k", "W_v"});
}

TEST_CASE("K07 a softmax over a row as long as a vocabulary") {
  Matrix x(Shape{1, 50257});
  for (int i = 0; i < x.cols(); ++i) x(0, i) = Real((i * 37 % 101) / 8.0 - 6);
  Tape tape;
  const Var X = tape.input(x, "x"), P = softmax(X), L = log_softmax(X);
  double total = 0;
  for (int i = 0; i < x.cols(); ++i) total += double(P.value()(0, i));
  CHECK(total == Approx(1).margin(1e-6));
  CHECK(double(value(P)) == Approx(8.800746578e-10).epsilon(kPrinted.relative));
  CHECK(std::exp(double(value(L))) == Approx(8.800746578e-10).epsilon(kDouble ? 1e-8 : 1e-5));
  CHECK(double(value(log_sum_exp(X))) == Approx(14.85101437).epsilon(kPrinted.relative));
}
