// What a training step costs beside its arithmetic: page faults, and zeroing gradients that could have been stored at once.
// Blocks of width 384 with 6 heads, over 2048 rows.
//
//   cmake --preset bench && cmake --build --preset bench && build/bench/tests/bench/training_step
//
// page_faults: of one steady step; should be 0. zero_first: every gradient is zeroed, then all are added.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "engine/cpu/fast.h"
#include "layers/embedding.h"
#include "layers/encoder.h"
#include "layers/optim/adamw.h"

using namespace glass;

static long page_faults() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

static void training_step(benchmark::State& state) {
  const int layers = int(state.range(0)), T = 256, batch = 8;
  choose_cpu(fast_cpu());
  ParamStore store;
  Rng rng(4);
  const Embedding words(store, "words", 65, 384, rng);
  Encoder encoder(store, "", layers, {.C = 384, .heads = 6, .activation = Activation::gelu_tanh}, rng);
  for (EncoderBlock& block : encoder.blocks) block.attention.variant = &fused_attention;
  AdamW adam(store, 1e-3);
  const Mask causal = Mask::causal(T, T);
  std::vector<int> ids(batch * T), next(batch * T);
  for (int i = 0; i < batch * T; ++i) ids[std::size_t(i)] = i * i % 65, next[std::size_t(i)] = (i + 1) * (i + 1) % 65;
  Tape tape;
  tape.zero_first = state.range(1) != 0;
  auto step = [&] {
    tape.rewind();
    const Var Y = encoder(words(tape, ids), {.batch = batch, .mask = &causal});
    store.zero_grad();
    tape.backward(cross_entropy(matmul_nt(Y, tape.use(*words.table)), next.data(), batch * T));
    adam.step();
  };
  step();
  const long before = page_faults();
  for (auto _ : state) step();
  state.counters["page_faults"] = double(page_faults() - before) / double(state.iterations());
  state.counters["MB"] = double(tape.peak_bytes()) / 1e6;
}
BENCHMARK(training_step)->ArgNames({"layers", "zero_first"})->Args({1, 0})->Args({1, 1})->Args({2, 0})->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
