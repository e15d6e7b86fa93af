// Theme I: optimisers, clipping, schedules. Each test is named after its case.
#include <cmath>
#include <limits>

#include "engine/backend.h"
#include "engine/ops.h"
#include "layers/layer_norm.h"
#include "layers/linear.h"
#include "layers/optim/adamw.h"
#include "layers/optim/clip.h"
#include "layers/optim/schedule.h"
#include "layers/optim/sgd.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static Param& make(ParamStore& store, const std::string& name, const Matrix& start) {
  Rng rng(1);
  Param& p = store.make(name, start.shape(), Init::zeros, rng);
  p.set(start);
  return p;
}

static void give(Param& p, const Matrix& gradient) { p.grad.home()->from_host(gradient, p.grad); }

TEST_CASE("I01 AdamW shrinks the weight before the step") {
  ParamStore store;
  Param& w = make(store, "w", {{1}, {1}});  // two rows: only matrices decay
  AdamW adam(store, 0.1, 0.1);
  give(w, {{0.5}, {0.5}});
  adam.step();
  CHECK(difference(w.value, Matrix{{0.890000002}, {0.890000002}}) == "");
}

TEST_CASE("I03 eps is added to the corrected root") {
  ParamStore store;
  Param& w = make(store, "w", {{0}});
  AdamW adam(store, 1, 0);
  give(w, {{1e-8}});
  adam.step();
  CHECK(difference(w.value, Matrix{{-0.5}}) == "");
}

TEST_CASE("I04 zero gradients: Adam does not move, AdamW only decays") {
  ParamStore plain, decayed;
  Param& a = make(plain, "w", {{1}, {1}});
  Param& b = make(decayed, "w", {{1}, {1}});
  AdamW adam(plain, 0.1, 0), adamw(decayed, 0.1, 0.1);
  for (int i = 0; i < 3; ++i) adam.step(), adamw.step();
  CHECK(bit_difference(a.value, Matrix{{1}, {1}}) == "");
  CHECK(difference(b.value, Matrix{{0.970299}, {0.970299}}) == "");
}

TEST_CASE("I07 matrices decay; biases, gains and shifts do not") {
  Rng rng(1);
  ParamStore store;
  const Linear linear(store, "", 2, 3, rng);
  const LayerNorm norm(store, "_norm", 3, rng);
  linear.W->set(Matrix{{1, 1, 1}, {1, 1, 1}});
  linear.b->set(Matrix{{1, 1, 1}});
  AdamW adam(store, 0.1, 0.1);
  adam.step();
  CHECK(difference(linear.W->value, Matrix{{0.99, 0.99, 0.99}, {0.99, 0.99, 0.99}}) == "");
  CHECK(bit_difference(linear.b->value, Matrix{{1, 1, 1}}) == "");
  CHECK(bit_difference(norm.gain->value, Matrix{{1, 1, 1}}) == "");
  CHECK(bit_difference(norm.bias->value, Matrix{{0, 0, 0}}) == "");
}

TEST_CASE("I09 momentum, and Nesterov's") {
  const Matrix want[] = {{{0.95}, {0.93}, {0.8995}}, {{0.905}, {0.912}, {0.87205}}};
  for (bool nesterov : {false, true}) {
    ParamStore store;
    Param& w = make(store, "w", {{1}});
    Sgd sgd(store, 0.1, 0.9, nesterov);
    Matrix got(Shape{3, 1});
    int t = 0;
    for (double g : {0.5, -0.25, 0.125}) {
      give(w, {{g}});
      sgd.step();
      got(t++, 0) = w.value(0, 0);
    }
    CHECK(difference(got, want[nesterov]) == "");
  }
}

TEST_CASE("I11 a NaN or an infinity in a gradient is named, and neither weights nor moments change") {
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    ParamStore store;
    Param& a = make(store, "a", {{1, 2}, {3, 4}});
    Param& b = make(store, "b", {{5, 6}});
    AdamW adam(store, 0.1, 0.1);
    give(a, {{1, 1}, {1, 1}});
    give(b, {{1, 1}});
    adam.step();
    const Matrix a_before = a.value, b_before = b.value, m = adam.m[1], v = adam.v[1];

    give(b, {{1, bad}});
    std::string message;
    try {
      clip_by_norm(store, 1);
      adam.step();
    } catch (const NonFiniteError& e) {
      message = e.what();
    }
    CHECK_THAT(message, ContainsSubstring("db[0,1]"));
    CHECK(bit_difference(a.value, a_before) == "");
    CHECK(bit_difference(b.value, b_before) == "");
    CHECK(bit_difference(adam.m[1], m) == "");
    CHECK(bit_difference(adam.v[1], v) == "");
    CHECK(bit_difference(a.grad, Matrix{{1, 1}, {1, 1}}) == "");
    CHECK(adam.t == 1);
  }
}

TEST_CASE("I12 clipping below, at and above the limit, and of zeros") {
  const Matrix g{{3, 4}};
  for (double limit : {10.0, 5.0, 1.0}) {
    ParamStore store;
    Param& w = make(store, "w", {{0, 0}});
    give(w, g);
    CHECK(clip_by_norm(store, limit) == 5);
    if (limit >= 5) CHECK(bit_difference(w.grad, g) == "");
    if (limit == 1) CHECK(difference(w.grad, Matrix{{0.6, 0.8}}) == "");
  }
  ParamStore store;
  Param& w = make(store, "w", {{0, 0}});
  CHECK(clip_by_norm(store, 1) == 0);
  CHECK(bit_difference(w.grad, Matrix{{0, 0}}) == "");
}

TEST_CASE("I13 warm-up starts above 0 and ends on time, the cosine ends at 0") {
  const WarmupCosine rate{1, 10, 110};
  const long t[] = {1, 5, 10, 11, 60, 109, 110};
  const double want[] = {0.1, 0.5, 1, 0.9997532802, 0.5, 0.0002467198171, 0};
  for (int i = 0; i < 7; ++i) {
    CAPTURE(t[i]);
    CHECK(rate(t[i]) == Approx(want[i]).epsilon(1e-9).margin(1e-12));
  }
}

TEST_CASE("I15 two passes add up to their mean, and only then the weight moves") {
  ParamStore store;
  Param& w = make(store, "w", {{0}});
  Sgd sgd(store, 0.1);
  const int parts = 2;
  store.zero_grad();
  Tape tape;
  for (int part = 0; part < parts; ++part) {
    tape.rewind();
    const Var gap = add_number(tape.use(w), -1);
    const Var loss = mul(gap, gap);
    tape.backward(scale(loss, 1.0 / parts));
    if (part == 0) CHECK(w.value(0, 0) == 0);
  }
  sgd.step();
  CHECK(difference(w.value, Matrix{{0.2}}) == "");
}

static double deviation(const Matrix& m) {  // around 0
  double sum = 0;
  for (int i = 0; i < m.rows(); ++i)
    for (int j = 0; j < m.cols(); ++j) sum += double(m(i, j)) * double(m(i, j));
  return std::sqrt(sum / (double(m.rows()) * m.cols()));
}

TEST_CASE("I17 a matrix drawn as normal has deviation 1, so that it can be scaled to any other") {
  Rng rng(7);
  ParamStore store;
  const Param& p = store.make("W", {1000, 1000}, Init::normal, rng);
  CHECK(deviation(p.value) == Approx(1).epsilon(0.005));
  CHECK(std::sqrt(2.0 / 64) * deviation(p.value) == Approx(0.1767766953).epsilon(0.02));            // Kaiming
  CHECK(0.02 / std::sqrt(2.0 * 12) * deviation(p.value) == Approx(0.004082482905).epsilon(0.02));  // GPT-2, residual
}

TEST_CASE("I17 a layer norm starts with gain 1 and shift 0, a linear layer with bias 0") {
  Rng rng(7);
  ParamStore store;
  const LayerNorm norm(store, "", 3, rng);
  const Linear linear(store, "", 64, 32, rng);
  CHECK(bit_difference(norm.gain->value, Matrix{{1, 1, 1}}) == "");
  CHECK(all_zero(norm.bias->value));
  CHECK(all_zero(linear.b->value));
}
