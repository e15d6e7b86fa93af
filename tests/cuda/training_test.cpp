// Training with every number on CUDA: the same losses and parameters as on the CPU, for a few updates.
#include <cmath>

#include "engine/params.h"
#include "layers/linear.h"
#include "layers/models/sample.h"
#include "layers/models/train.h"
#include "layers/optim/clip.h"
#include "layers/optim/sgd.h"
#include "tests/catch.h"
#include "tests/cuda/twin_problem.h"

using namespace glass;

// Two linear layers and a cross-entropy over three classes.
struct Tiny {
  ParamStore store;
  Rng rng{31};
  Linear first{store, "_1", 5, 8, rng}, second{store, "_2", 8, 3, rng};
  Tape tape;
  explicit Tiny(Backend& be) : store(&be), tape(be) {}

  // One pass forward and back; the gradients stay in the store. Returns the loss.
  double pass(const Matrix& X, const std::vector<int>& classes) {
    tape.rewind();
    const Var H = relu(first(tape.constant(X, "X")));
    const Var loss = cross_entropy(second(H), classes.data(), int(classes.size()));
    store.zero_grad();
    tape.backward(loss);
    return double(HostView(tape.be, loss.value())(0, 0));
  }
};

// What the host can read of a parameter.
static Matrix read(const Matrix& m) {
  const HostView here(*m.home(), m);
  return Matrix(Mat(here));
}

static void check_same(const ParamStore& got, const ParamStore& want) {
  REQUIRE(got.all.size() == want.all.size());
  for (std::size_t i = 0; i < want.all.size(); ++i) {
    INFO(want.all[i].name);
    CHECK(difference(read(got.all[i].value), want.all[i].value, {1e-4, 1e-5}) == "");
  }
}

template <class Optimiser>
static void train_both(Tiny& cpu, Tiny& cuda, Optimiser& on_cpu, Optimiser& on_cuda, double limit) {
  Rng rng(32);
  const Matrix start = read(cpu.store.all[0].value);
  for (int t = 0; t < 5; ++t) {
    const Matrix X = random_matrix({6, 5}, rng);
    const std::vector<int> classes{0, 2, 1, 1, 0, 2};
    INFO("update " << t);
    CHECK(cuda.pass(X, classes) == Approx(cpu.pass(X, classes)).epsilon(1e-5));
    CHECK(clip_by_norm(cuda.store, limit) == Approx(clip_by_norm(cpu.store, limit)).epsilon(1e-5));
    on_cpu.step();
    on_cuda.step();
  }
  check_same(cuda.store, cpu.store);
  CHECK(difference(cpu.store.all[0].value, start, {1e-4, 1e-5}) != "");  // it has moved
}

TEST_CASE("two linear layers train on CUDA as on the CPU: sgd, momentum, nesterov, with clipping") {
  CudaBackend be;
  for (double momentum : {0.0, 0.9}) {
    for (bool nesterov : {false, true}) {
      Tiny cpu(cpu_backend()), cuda(be);
      Sgd on_cpu(cpu.store, 0.1, momentum, nesterov), on_cuda(cuda.store, 0.1, momentum, nesterov);
      train_both(cpu, cuda, on_cpu, on_cuda, 0.3);
    }
  }
}

TEST_CASE("two linear layers train on CUDA as on the CPU: AdamW") {
  CudaBackend be;
  Tiny cpu(cpu_backend()), cuda(be);
  AdamW on_cpu(cpu.store, 0.01), on_cuda(cuda.store, 0.01);
  train_both(cpu, cuda, on_cpu, on_cuda, 1e9);
}

TEST_CASE("clipping works where the host cannot read: huge gradients, and one that is no number") {
  CudaBackend be;
  ParamStore store(&be);
  Rng rng(33);
  Param& w = store.make("w", {2, 3}, Init::zeros, rng);
  be.from_host(Matrix{{1e30, -2e30, 0}, {0, 2e30, 0}}, w.grad);
  CHECK(clip_by_norm(store, 1.5) == Approx(3e30));
  CHECK(difference(read(w.grad), Matrix{{0.5, -1, 0}, {0, 1, 0}}, kRounding) == "");
  be.from_host(Matrix{{1, 2, 0}, {0, std::nan(""), 0}}, w.grad);
  CHECK_THROWS_AS(clip_by_norm(store, 1), NonFiniteError);
}

TEST_CASE("a GPT trains on CUDA as on the CPU, and writes the same text") {
  CudaBackend be;
  std::vector<int> text;
  for (int i = 0; i < 200; ++i) text.push_back(i * i % 11 % 7);
  for (Places places : {Places::learned, Places::rotary}) {
    const GptSettings settings{
        .layers = 2, .heads = 2, .C = 8, .T = 6, .vocabulary = 7, .places = places, .dropout = 0.1};
    ParamStore here, there(&be);
    Rng rng(34), same(34);
    Gpt cpu(here, settings, rng), cuda(there, settings, same);
    const TrainSettings how{.steps = 5, .batch = 3, .rate = 0.01, .floor = 0.001, .warmup = 2};
    Trainer on_cpu(cpu, text, how, 35), on_cuda(cuda, text, how, 35);
    for (int t = 0; t < 5; ++t) {
      INFO("update " << t);
      CHECK(on_cuda.step() == Approx(on_cpu.step()).epsilon(1e-4));
    }
    check_same(there, here);
    CHECK(loss_on(cuda, text) == Approx(loss_on(cpu, text)).epsilon(1e-4));
    CHECK(sample(cuda, {2, 3}, 8, {.temperature = 0}, rng) == sample(cpu, {2, 3}, 8, {.temperature = 0}, same));
  }
}
