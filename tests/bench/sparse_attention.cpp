// What sparse attention costs, forward and backward, beside dense attention under the same mask.
//
//   cmake --preset bench && cmake --build --preset bench && build/bench/tests/bench/sparse_attention
//
// A causal window of 32 tokens, width 32. per_pair: the processor time for each pair that is computed. For the sparse form
// it should be about the same in every row: then its cost is the number of its pairs. The dense form computes n² of them.
#include <benchmark/benchmark.h>

#include "engine/rng.h"
#include "layers/attention/attention.h"
#include "layers/attention/sparse.h"

using namespace glass;

static constexpr int kWidth = 32, kWindow = 32;

static Matrix numbers(int n, Rng& rng) {
  Matrix m(Shape{n, kWidth});
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < kWidth; ++c) m(i, c) = Real(rng.uniform(-1, 1));
  return m;
}

static void attend(benchmark::State& state, bool sparse) {
  const int n = int(state.range(0));
  Rng rng(1);
  const Matrix q = numbers(n, rng), k = numbers(n, rng), v = numbers(n, rng), dY = numbers(n, rng);
  const KeyLists lists = causal_window(n, n, kWindow);
  const Mask mask = lists.mask();
  Tape tape;
  for (auto _ : state) {
    tape.rewind();
    const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    const Var Y = sparse ? sparse_attention(Q, K, V, lists) : attention_fused(Q, K, V, &mask);
    tape.backward(Y, dY);
    benchmark::DoNotOptimize(Q.grad().data);
  }
  const double pairs = sparse ? double(lists.pairs()) : double(n) * n;
  state.counters["pairs"] = pairs;
  state.counters["per_pair"] = benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

static void sparse_window(benchmark::State& state) { attend(state, true); }
static void dense_then_masked(benchmark::State& state) { attend(state, false); }
BENCHMARK(sparse_window)->RangeMultiplier(2)->Range(64, 2048)->Unit(benchmark::kMillisecond);
BENCHMARK(dense_then_masked)->RangeMultiplier(2)->Range(64, 2048)->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
