#include "layers/optim/sgd.h"

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

TEST_CASE("sgd: a worked example to ten digits") {
  // gradients 0.5 t and -0.25 t²
  ParamStore store;
  Param& w = make(store, "w", {{1, -2}});
  Sgd sgd(store, 0.1, 0.9);
  const Matrix want[] = {{{0.95, -1.975}}, {{0.805, -1.8525}}, {{0.5245, -1.51725}}};
  for (int t = 1; t <= 3; ++t) {
    give(w, {{0.5 * t, -0.25 * t * t}});
    sgd.step();
    CHECK(difference(w.value, want[t - 1]) == "");
  }
}

TEST_CASE("sgd: PyTorch's three steps, plain, with momentum and with Nesterov's") {
  const ReferenceFile file("layers.txt");
  struct Kind {
    const char* name;
    double momentum;
    bool nesterov;
  };
  for (const Kind& kind : {Kind{"sgd", 0, false}, Kind{"momentum", 0.9, false}, Kind{"nesterov", 0.9, true}}) {
    CAPTURE(kind.name);
    ParamStore store;
    make(store, "W", file["start.W"]);
    make(store, "b", file["start.b"]);
    Sgd sgd(store, 0.05, kind.momentum, kind.nesterov);
    for (int t = 1; t <= 3; ++t) {
      for (Param& p : store.all) give(p, file["gradient" + std::to_string(t) + "." + p.name]);
      sgd.step();
      for (const Param& p : store.all) {
        CHECK(difference(p.value, file[kind.name + std::to_string(t) + "." + p.name], kRounding) == "");
      }
    }
  }
}

TEST_CASE("sgd: a new rate acts on the whole step, also on what momentum remembers") {
  ParamStore store;
  Param& w = make(store, "w", {{0}});
  Sgd sgd(store, 1, 0.5);
  give(w, {{1}});
  sgd.step();
  CHECK(w.value(0, 0) == -1);
  sgd.rate = 0.25;
  give(w, {{0}});
  sgd.step();
  CHECK(w.value(0, 0) == -1.125);  // v = 0.5; the form v ← 0.5 v - rate g would still move by 0.5
}

TEST_CASE("sgd: a parameter that no gradient reached stays as it is, bit for bit") {
  Rng rng(1);
  ParamStore store;
  Param& used = store.make("used", {2, 2}, Init::normal, rng);
  Param& unused = store.make("unused", {2, 2}, Init::normal, rng);
  const Matrix before = unused.value;
  Sgd sgd(store, 0.1, 0.9, true);
  for (int i = 0; i < 3; ++i) {
    Tape tape;
    store.zero_grad();
    tape.backward(sum(tape.use(used)));
    sgd.step();
  }
  CHECK(bit_difference(unused.value, before) == "");
}

TEST_CASE("sgd: a step is seen by a tape that was recorded before it") {
  Rng rng(1);
  ParamStore store;
  Param& w = store.make("w", {1, 1}, Init::ones, rng);
  Sgd sgd(store, 0.5);
  Tape tape;
  const Var W = tape.use(w);
  const Var y = mul(W, W);
  tape.backward(y);
  sgd.step();
  CHECK(w.value(0, 0) == 0);
  tape.clear_gradients();
  CHECK_THROWS_AS(tape.backward(y), TapeError);
  tape.replay();
  CHECK(y.value()(0, 0) == 0);
}

TEST_CASE("sgd: the state is made with the optimiser, and a parameter that comes later is an error") {
  Rng rng(1);
  ParamStore store;
  store.make("a", {2, 3}, Init::ones, rng);
  Sgd sgd(store, 0.1);
  CHECK(sgd.v.size() == 1);
  CHECK(sgd.v[0].shape() == Shape{2, 3});
  store.make("b", {1, 3}, Init::ones, rng);
  CHECK_THROWS_WITH(sgd.step(), ContainsSubstring("sgd"));
  CHECK(store.find("a")->version == 0);
}

TEST_CASE("sgd: a momentum outside 0 to 1 is an error that says it") {
  ParamStore store;
  for (double momentum : {-0.1, 1.0, 1.5}) CHECK_THROWS_AS(Sgd(store, 0.1, momentum), InputError);
  CHECK_THROWS_WITH(Sgd(store, 0.1, 1.5), ContainsSubstring("momentum") && ContainsSubstring("1.5"));
}
