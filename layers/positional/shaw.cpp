#include "layers/positional/shaw.h"

#include <algorithm>
#include <vector>

#include "engine/errors.h"
#include "engine/ops.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

Shaw::Shaw(ParamStore& store, const std::string& suffix, int clip, int d, int d_v, Rng& rng, int heads)
    : aK(&store.make("aK" + suffix, {2 * clip + 1, d * heads}, Init::xavier, rng)),
      aV(&store.make("aV" + suffix, {2 * clip + 1, d_v * heads}, Init::xavier, rng)),
      k(clip) {}

static int row_of(int ahead, int k) { return std::clamp(ahead, -k, k) + k; }

static Var part_of(Tape& tape, Param& table, int width, int head) {  // the head's own columns, or those of all heads
  const int all = table.value.cols();
  if (all != width && (all % width != 0 || head >= all / width)) {
    throw ShapeError("shaw attention: the table \"" + table.name + "\" is " + to_text(table.value.rows(), all) +
                     ", so head " + std::to_string(head) + " of width " + std::to_string(width) +
                     " has no columns in it");
  }
  return tape.cols(tape.use(table), all == width ? 0 : head * width, width);
}

Var Shaw::attend(Var Q, Var K, Var V, const Call& call) const {
  Tape& tape = *Q.tape;
  const int n = Q.shape().rows, m = K.shape().rows, rows = 2 * k + 1;
  const Var a = part_of(tape, *aK, Q.shape().cols, call.head), b = part_of(tape, *aV, V.shape().cols, call.head);
  K = hide_keys(K, call.allowed);
  V = hide_keys(V, call.allowed);
  std::vector<int> places;  // of (i, r) in an n x (2k+1) matrix
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) places.push_back(i * rows + row_of(j - (i + m - n), k));
  const Var R = matmul_nt(Q, a).named("R");
  const Var S = add(matmul_nt(Q, K).named("Q Kᵀ"), gather_entries(R, places.data(), {n, m})).named("S");
  const Var A = softmax(hide_pairs(scale(S, default_scale(Q)).named("E"), call.allowed)).named("A");
  if (call.weights) call.weights->push_back(A);
  const Var W = scatter_entries(A, places.data(), {n, rows}).named("W");
  return add(matmul(A, V), matmul(W, b)).named("Y");
}

Var shaw_steps(Var Q, Var K, Var V, Var aK, Var aV, const Mask* allowed) {
  Tape& tape = *Q.tape;
  const int n = Q.shape().rows, m = K.shape().rows, k = aK.shape().rows / 2;
  K = hide_keys(K, allowed);
  V = hide_keys(V, allowed);
  std::vector<Var> y;
  for (int i = 0; i < n; ++i) {
    std::vector<int> r;
    Mask mine(1, m);
    for (int j = 0; j < m; ++j) {
      r.push_back(row_of(j - (i + m - n), k));
      if (allowed) mine.set(0, j, (*allowed)(i, j));
    }
    const Var keys = add(K, gather_rows(aK, r.data(), m)), values = add(V, gather_rows(aV, r.data(), m));
    const Var e = scale(matmul_nt(tape.rows(Q, i, 1), keys), default_scale(Q));
    y.push_back(matmul(softmax(hide_pairs(e, allowed ? &mine : nullptr)), values));
  }
  return concat_rows(y.data(), n).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
