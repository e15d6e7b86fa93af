// What a line of the tape costs beyond its arithmetic: a long chain of 1 x 1 operations, where there is next to none.
//
//   cmake --preset bench && cmake --build --preset bench && build/bench/tests/bench/tape_overhead
//
// per_node: recorded, run forward and swept back together. The budget is 150 ns, the aim 60.
#include <benchmark/benchmark.h>

#include "engine/ops.h"

using namespace glass;

static void record_and_sweep(benchmark::State& state) {
  const int n = int(state.range(0));
  const Matrix one{{1}}, factor{{1.0000001}};
  Tape tape;
  for (auto _ : state) {
    tape.rewind();
    Var y = tape.input(one, "x");
    const Var w = tape.input(factor, "w");
    for (int i = 0; i < n; ++i) y = i % 2 ? mul(y, w) : add(y, w);
    tape.backward(y);
    benchmark::DoNotOptimize(w.grad().data);
  }
  state.counters["per_node"] =
      benchmark::Counter(double(n), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(record_and_sweep)->Arg(1000)->Arg(10000)->Arg(100000)->Unit(benchmark::kMicrosecond);

// The same list again, without recording it: what the gradient checker does.
static void replay(benchmark::State& state) {
  const int n = int(state.range(0));
  Tape tape;
  Var y = tape.input(Matrix{{1}}, "x");
  const Var w = tape.input(Matrix{{1.0000001}}, "w");
  for (int i = 0; i < n; ++i) y = i % 2 ? mul(y, w) : add(y, w);
  for (auto _ : state) tape.rerun(0, y.id);
  state.counters["per_node"] =
      benchmark::Counter(double(n), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(replay)->Arg(10000)->Unit(benchmark::kMicrosecond);

BENCHMARK_MAIN();
