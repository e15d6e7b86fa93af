// The program of the five demonstrations in docs/debugging.md. demos.gdb names its functions and steps, never its lines.
#include <cmath>
#include <limits>

#include "engine/hooks.h"
#include "layers/attention/self_attention.h"

using namespace glass;

// One head over three words. The words are used three times: for queries, keys and values.
static void attend() {
  const Matrix words{{1, 0.5}, {-0.5, 1}, {0.25, -1}}, dY{{1, 0.5}, {-0.25, 1}, {-1, 0.75}};
  ParamStore store;
  Rng rng(9);
  const SelfAttention head(store, 2, 2, 2, rng);
  Tape tape;
  const Var X = tape.input(words, "X");
  glass_step("Words", 1);
  const Var Y = head(X);
  glass_step("Weights", 2);
  tape.backward(Y, dY);
  glass_step("Into the words", 3);
}

// softmax by hand. Row 1 may see no key at all: its scores are all -inf.
static Var weights_by_hand(Var E) {
  const Var m = row_max(E).named("m");
  const Var Z = sub_col(E, m).named("Z");
  const Var P = exp(Z).named("P");
  return div_col(P, row_sum(P)).named("A");
}

static void masked() {
  const double inf = std::numeric_limits<double>::infinity();
  Tape tape;
  tape.watch_nonfinite = true;
  unsigned char seen[] = {1, 0, 1, 0, 0, 0, 1, 1, 1};
  const Var S = tape.input(Matrix{{0.5, 2, -1}, {1, 0.25, 3}, {-2, 1, 0.75}}, "S");
  const Var E = mask(S, tape.keep({seen, 3, 3}), -inf).named("E");
  glass_step("Masked", 4);
  const Var A = weights_by_hand(E);
  glass_step("Weights by hand", 5);
  (void)A;
}

// A rule with a mistake, as one finds it in the wild: the slope of softmax without its row sum.
struct CarelessSoftmaxOp final : Op {
  const char* name() const override { return "careless_softmax"; }
  void forward(Step& s) override { s.be.softmax_rows(s.x[0], s.y); }
  void backward(Step& s) override {
    Mat A = s.y, dA = s.dy, dE = s.dx[0];
    for (int i = 0; i < A.rows; ++i)
      for (int j = 0; j < A.cols; ++j) dE(i, j) += A(i, j) * dA(i, j);  // and where is - Σ_k A_ik dA_ik?
  }
};

static void careless() {
  Tape tape;
  const Var Q = tape.input(Matrix{{1, 0.5}, {-0.5, 2}}, "Q"), K = tape.input(Matrix{{0.25, 1}, {1.5, -1}}, "K");
  const Var V = tape.input(Matrix{{1, 2}, {3, -1}}, "V");
  const Var E = matmul_nt(Q, K).named("E");
  const Var A = tape.record<CarelessSoftmaxOp>(E.shape(), {E}, Where()).named("A");
  const Var Y = matmul(A, V).named("Y");
  tape.backward(Y, Matrix{{1, 0.5}, {-0.25, 1}});
  glass_step("Careless", 6);
}

// The same attention three times: in steps, tile by tile, and with a mistake in one line.
static void three_forms() {
  const Matrix q{{1, 0.5}, {-0.5, 2}, {0.25, -1}}, k{{0.25, 1}, {1.5, -1}, {-1, 0.5}}, v{{1, 2}, {3, -1}, {0.5, 0.75}};
  const Matrix dY{{1, 0.5}, {-0.25, 1}, {2, -0.75}};
  Tape steps, tiles, wrong;

  const Var Y = attention_steps(steps.input(q, "Q"), steps.input(k, "K"), steps.input(v, "V"));

  Tiling two;
  two.keys = two.queries = 2;
  const Var Q = tiles.input(q, "Q"), K = tiles.input(k, "K"), V = tiles.input(v, "V");
  const Var Y_tiles = flash_attention(Q, K, V, 1 / std::sqrt(2.0), two).named("Y");

  const Var S = matmul_nt(wrong.input(q, "Q"), wrong.input(k, "K")).named("S");
  const Var A = softmax(scale(S, 1 / 2.0).named("E")).named("A");  // divided by d, not by its root
  const Var Y_wrong = matmul(A, wrong.input(v, "V")).named("Y");

  steps.backward(Y, dY);
  tiles.backward(Y_tiles, dY);
  wrong.backward(Y_wrong, dY);
  glass_step("Three forms", 7);
}

int main() {
  attend();
  masked();
  careless();
  three_forms();
}
