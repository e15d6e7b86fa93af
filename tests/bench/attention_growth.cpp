// How time and memory of attention grow with the number of words, forward and backward.
//
//   cmake --preset bench && cmake --build --preset bench && build/bench/tests/bench/attention_growth
//
// One head of width 32. The lines *_BigO give the growth that Google Benchmark fits (oN: n, oNSquared: n²) and how badly it
// fits (RMS). numbers: the most that the tape held at once, parameters aside. Time of plain and flash is quadratic; memory
// of flash is linear. The linear form, regrouped, is linear in both.
#include <benchmark/benchmark.h>

#include "engine/rng.h"
#include "layers/attention/flash.h"
#include "layers/attention/linear_attention.h"
#include "layers/attention/plain.h"

using namespace glass;

static constexpr int kWidth = 32;

static Matrix numbers(int n, Rng& rng) {
  Matrix m(Shape{n, kWidth});
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < kWidth; ++c) m(i, c) = Real(rng.uniform(-1, 1));
  return m;
}

static void attend(benchmark::State& state, const Variant& variant) {
  const int n = int(state.range(0));
  Rng rng(1);
  const Matrix q = numbers(n, rng), k = numbers(n, rng), v = numbers(n, rng), dY = numbers(n, rng);
  Tape tape;
  for (auto _ : state) {
    tape.rewind();
    const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    tape.backward(variant(Q, K, V), dY);
    benchmark::DoNotOptimize(Q.grad().data);
  }
  state.SetComplexityN(n);
  state.counters["numbers"] = double(tape.peak_bytes()) / sizeof(Real);
}

static void steps(benchmark::State& state) { attend(state, plain_attention); }
static void in_one_line(benchmark::State& state) { attend(state, fused_attention); }
static void flash(benchmark::State& state) { attend(state, FlashAttention()); }
static void linear(benchmark::State& state) { attend(state, LinearAttention()); }
BENCHMARK(steps)->RangeMultiplier(2)->Range(256, 2048)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(in_one_line)->RangeMultiplier(2)->Range(256, 2048)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(flash)->RangeMultiplier(2)->Range(256, 2048)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(linear)->RangeMultiplier(2)->Range(256, 2048)->Unit(benchmark::kMillisecond)->Complexity();

BENCHMARK_MAIN();
