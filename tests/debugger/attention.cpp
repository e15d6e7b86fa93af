// The program of the recorded debugger session: self-attention forward and backward, the same as one fused line,
// kinds of matrices, an overflow, and two wrong calls. attention.gdb names its functions, never its lines.
#include <cstdio>
#include <limits>

#include "engine/hooks.h"
#include "layers/attention/self_attention.h"

using namespace glass;

static void report(const Error& e) {
  std::puts(e.what());
  std::fflush(stdout);  // gdb and the program share one stream
}

static void fused(SelfAttention attend, const Matrix& words, const Matrix& dY) {
  Tape tape;
  attend.form = SelfAttention::Form::fused;
  const Var X = tape.input(words, "X");
  const Var Y = attend(X);
  tape.backward(Y, dY);
}

static void matrices() {
  const double inf = std::numeric_limits<double>::infinity();
  const Matrix bad{{1, -inf}, {inf - inf, 1e30}};
  Matrix big({20, 30});
  for (int r = 0; r < 20; ++r)
    for (int c = 0; c < 30; ++c) big(r, c) = r + Real(c) / 100;
  const Mat view = big.view().block(1, 2, 2, 3), nothing;
  const Mask causal = Mask::causal(3, 3);
  const Keep keep = causal.keep();
  glass_step("matrices", 4);
  (void)view, (void)nothing, (void)keep;
}

static void overflow() {
  Tape tape;
  tape.watch_nonfinite = true;
  const Var x = tape.input(Matrix{{1, 10, 1000}}, "x");
  const Var y = exp(x).named("y");
  const Var loss = sum(y);
  try {
    tape.backward(loss);
  } catch (const NonFiniteError& e) {
    report(e);
  }
}

int main() {
  ParamStore store;
  Rng rng(9);
  const SelfAttention attend(store, 2, 2, 2, rng);
  const Matrix words{{1, 0}, {0, 1}, {1, 1}}, dY{{1, 0}, {0, 1}, {-1, 1}};

  Tape tape;
  const Var X = tape.input(words, "X");
  glass_step("Words", 1);
  const Var Y = attend(X);
  const Var Q = tape.find("Q");
  glass_step("Weights", 2);
  tape.backward(Y, dY);
  glass_step("Into the words", 3);

  fused(attend, words, dY);
  matrices();
  overflow();

  try {
    tape.backward(Y, dY);
  } catch (const TapeError& e) {
    report(e);
  }
  tape.rewind();
  try {
    Q.value();
  } catch (const StaleVar& e) {
    report(e);
  }
  glass_step("rewound", 5);
}
