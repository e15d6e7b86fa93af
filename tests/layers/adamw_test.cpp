#include "layers/optim/adamw.h"

#include <cmath>

#include "engine/backend.h"
#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static Param& make(ParamStore& store, const std::string& name, const Matrix& start) {
  Rng rng(1);
  Param& p = store.make(name, start.shape(), Init::zeros, rng);
  p.set(start);
  return p;
}

static void give(Param& p, const Matrix& gradient) { p.grad.home()->from_host(gradient, p.grad); }

TEST_CASE("adamw: a worked example to ten digits") {
  // gradients 0.5 t and -0.25 t²; a column, so that it decays
  ParamStore store;
  Param& w = make(store, "w", {{1}, {-2}});
  AdamW adam(store, 0.1, 0.01);
  const Matrix want[] = {
      {{0.8990000020}, {-1.8980000040}}, {{0.8015828006}, {-1.8076643562}}, {{0.7049810963}, {-1.7193141243}}};
  for (int t = 1; t <= 3; ++t) {
    give(w, {{0.5 * t}, {-0.25 * t * t}});
    adam.step();
    CHECK(difference(w.value, want[t - 1]) == "");
    CHECK(adam.t == t);
  }
}

TEST_CASE("adamw: PyTorch's three steps: W decays, b does not") {
  const ReferenceFile file("layers.txt");
  ParamStore store;
  make(store, "W", file["start.W"]);
  make(store, "b", file["start.b"]);
  AdamW adam(store, 0.05, 0.1);
  for (int t = 1; t <= 3; ++t) {
    for (Param& p : store.all) give(p, file["gradient" + std::to_string(t) + "." + p.name]);
    adam.step();
    for (const Param& p : store.all) {
      CHECK(difference(p.value, file["adamw" + std::to_string(t) + "." + p.name], kRounding) == "");
    }
  }
}

TEST_CASE("adamw: what decays is a parameter of more than one row") {
  Rng rng(1);
  ParamStore store;
  CHECK(decays(store.make("W", {3, 4}, Init::ones, rng)));
  CHECK(decays(store.make("W_out", {3, 1}, Init::ones, rng)));  // a linear layer to one number
  CHECK_FALSE(decays(store.make("b", {1, 4}, Init::ones, rng)));
  CHECK_FALSE(decays(store.make("b_out", {1, 1}, Init::ones, rng)));
}

TEST_CASE("adamw: the first step is the rate against the sign, whatever the size of the gradient") {
  for (double size : {1e-3, 1.0, 1e6}) {
    CAPTURE(size);
    ParamStore store;
    Param& w = make(store, "w", {{0, 0}});
    AdamW adam(store, 0.25, 0);
    give(w, {{size, -size}});
    adam.step();
    CHECK(difference(w.value, Matrix{{-0.25, 0.25}}, {1e-4, 1e-4}) == "");
  }
}

TEST_CASE("adamw: with a constant gradient every step is the rate, so both means are corrected") {
  ParamStore store;
  Param& w = make(store, "w", {{0}});
  AdamW adam(store, 0.125, 0);
  for (int t = 1; t <= 50; ++t) {
    give(w, {{3}});
    adam.step();
    CHECK(double(w.value(0, 0)) == Approx(-0.125 * t).epsilon(1e-5));
  }
}

TEST_CASE("adamw: the rate may change before each step, the other constants too") {
  ParamStore store;
  Param& w = make(store, "w", {{0}});
  AdamW adam(store, 0.1, 0);
  adam.beta1 = 0.5, adam.beta2 = 0.75, adam.eps = 1;
  give(w, {{2}});
  adam.step();
  CHECK(difference(w.value, Matrix{{-0.1 * 2 / 3}}) == "");  // m̂ = 2, v̂ = 4
  adam.rate = 0.3;
  give(w, {{-1}});
  adam.step();
  // m = 0.5 · 1 - 0.5 = 0;  so w stays
  CHECK(difference(w.value, Matrix{{-0.1 * 2 / 3}}) == "");
  give(w, {{4}});
  adam.step();
  // m = 2, m̂ = 2 / 0.875;  v = 0.75 (0.75 · 1 + 0.25) + 4 = 4.75, v̂ = 4.75 / (1 - 0.421875)
  const double step = 0.3 * (2 / 0.875) / (std::sqrt(4.75 / 0.578125) + 1);
  CHECK(difference(w.value, Matrix{{-0.1 * 2 / 3 - step}}) == "");
}

TEST_CASE("adamw: a parameter that no gradient reached decays, and does not move otherwise") {
  Rng rng(1);
  ParamStore store;
  Param& used = store.make("used", {2, 2}, Init::normal, rng);
  Param& W = store.make("W", {2, 2}, Init::ones, rng);
  Param& b = store.make("b", {1, 2}, Init::normal, rng);
  const Matrix before = b.value;
  AdamW adam(store, 0.1, 0.1);
  for (int i = 0; i < 2; ++i) {
    Tape tape;
    store.zero_grad();
    tape.backward(sum(tape.use(used)));
    adam.step();
  }
  CHECK(difference(W.value, Matrix{{0.9801, 0.9801}, {0.9801, 0.9801}}) == "");
  CHECK(bit_difference(b.value, before) == "");
}

TEST_CASE("adamw: the state is made with the optimiser, a step bumps versions, a later parameter is an error") {
  Rng rng(1);
  ParamStore store;
  store.make("a", {2, 3}, Init::ones, rng);
  AdamW adam(store, 0.1);
  CHECK(adam.m.size() == 1);
  CHECK(adam.v[0].shape() == Shape{2, 3});
  const unsigned version = store.find("a")->version;
  adam.step();
  CHECK(store.find("a")->version == version + 1);
  store.make("b", {1, 3}, Init::ones, rng);
  CHECK_THROWS_WITH(adam.step(), ContainsSubstring("adamw"));
  CHECK(store.find("a")->version == version + 1);
  CHECK(adam.t == 1);
}
