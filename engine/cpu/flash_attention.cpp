#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The formulas are in engine/ops/flash_attention.cpp. One thread takes the tiles in a fixed order, so the sums come out the
// same, bit for bit, every time. All but the two functions at the end is about one head of one sequence.

static constexpr Real kHidden = -std::numeric_limits<Real>::infinity();

namespace {
struct Tile {  // queries i, i+1, ... and keys j, j+1, ...
  int i, j, rows, cols;
};
}  // namespace

static Tile tile_at(int i, int j, const Tiling& t, Mat Q, Mat K) { return {i, j, std::min(t.queries, Q.rows - i), std::min(t.keys, K.rows - j)}; }

static bool sees(const Tiling& t, int i, int j, Mat Q, Mat K) {
  if (t.causal && j > i + K.rows - Q.rows) return false;
  return t.keep.rows == 0 || t.keep(t.keep.rows == 1 ? 0 : i, j);
}

// Whether nobody in the tile sees anybody. Above the causal diagonal this costs nothing.
static bool hidden(Tile b, const Tiling& t, Mat Q, Mat K) {
  if (t.causal && b.j > b.i + b.rows - 1 + K.rows - Q.rows) return true;
  for (int i = b.i; i < b.i + b.rows; ++i)
    for (int j = b.j; j < b.j + b.cols; ++j)
      if (sees(t, i, j, Q, K)) return false;
  return true;
}

// S = scale Q Kᵀ of one tile. A hidden pair scores -inf, and its key is not even read.
static void scores(Tile b, const Tiling& t, Mat Q, Mat K, Real scale, Mat S) {
  for (int r = 0; r < b.rows; ++r) {
    for (int c = 0; c < b.cols; ++c) {
      S(r, c) = kHidden;
      if (!sees(t, b.i + r, b.j + c, Q, K)) continue;
      Real dot = 0;
      for (int k = 0; k < Q.cols; ++k) dot += Q(b.i + r, k) * K(b.j + c, k);
      S(r, c) = scale * dot;
    }
  }
}

// One more tile for query i of row r. While every score so far is -inf, so is m, and -inf - (-inf) would be NaN: the exponents
// then take 0 for it. Returns whether l and acc had to be rescaled.
static bool absorb(Tile b, int r, Mat V, double tau, Mat S, Real& m, Real& l, Mat acc) {
  Real top = m;
  for (int c = 0; c < b.cols; ++c) top = S(r, c) > top ? S(r, c) : top;
  if (top - m <= tau) top = m;  // near enough: l, acc and L all use the same m, so nothing changes
  const Real base = top == kHidden ? 0 : top, a = std::exp(m - base);
  double sum = 0;
  for (int k = 0; k < acc.cols; ++k) acc(0, k) *= a;
  for (int c = 0; c < b.cols; ++c) {
    if (S(r, c) == kHidden) continue;
    const Real p = std::exp(S(r, c) - base);
    sum += p;
    for (int k = 0; k < acc.cols; ++k) acc(0, k) += p * V(b.j + c, k);
  }
  const bool rescaled = m != kHidden && a != 1;
  l = Real(a * l + sum);
  m = top;
  return rescaled;
}

static void attend(Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat S, Mat state, Mat Y, Mat L, Mat counts) {
  for (int i = 0; i < Q.rows; i += t.queries) {
    const int rows = std::min(t.queries, Q.rows - i);
    for (int r = 0; r < rows; ++r) {
      state(r, 0) = kHidden;                             // m
      state(r, 1) = 0;                                   // l
      for (int k = 0; k < Y.cols; ++k) Y(i + r, k) = 0;  // acc, until the end
    }
    for (int j = 0; j < K.rows; j += t.keys) {
      const Tile b = tile_at(i, j, t, Q, K);
      if (hidden(b, t, Q, K)) continue;
      counts(0, 0) += 1;
      scores(b, t, Q, K, scale, S);
      for (int r = 0; r < rows; ++r) counts(0, 1) += absorb(b, r, V, t.tau, S, state(r, 0), state(r, 1), Y.block(i + r, 0, 1, Y.cols));
    }
    for (int r = 0; r < rows; ++r) {
      const Real m = state(r, 0), l = state(r, 1);
      for (int k = 0; k < Y.cols; ++k) Y(i + r, k) = l == 0 ? 0 : Y(i + r, k) / l;  // l is NaN if a score is
      L(i + r, 0) = l == 0 ? kHidden : m + std::log(l);
    }
  }
}

static void attend_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat L, Mat D, Mat dY, Mat S, Mat dQ, Mat dK, Mat dV) {
  for (int j0 = 0; j0 < K.rows; j0 += t.keys) {
    for (int i0 = 0; i0 < Q.rows; i0 += t.queries) {
      const Tile b = tile_at(i0, j0, t, Q, K);
      if (hidden(b, t, Q, K)) continue;
      scores(b, t, Q, K, scale, S);
      for (int r = 0; r < b.rows; ++r) {
        for (int c = 0; c < b.cols; ++c) {
          if (S(r, c) == kHidden) continue;
          const int i = i0 + r, j = j0 + c;
          const Real P = std::exp(S(r, c) - L(i, 0));
          Real dP = 0;
          for (int k = 0; k < V.cols; ++k) dP += dY(i, k) * V(j, k);
          const Real dE = scale * P * (dP - D(i, 0));
          for (int k = 0; dV.data && k < V.cols; ++k) dV(j, k) += P * dY(i, k);
          for (int k = 0; dQ.data && k < Q.cols; ++k) dQ(i, k) += dE * K(j, k);
          for (int k = 0; dK.data && k < Q.cols; ++k) dK(j, k) += dE * Q(i, k);
        }
      }
    }
  }
}

// Sequence b and block h of columns; of nothing, nothing.
static Mat part(Mat x, int b, int batch, int h, int heads) {
  const int rows = x.rows / batch, cols = x.cols / heads;
  return x.data ? x.block(b * rows, h * cols, rows, cols) : Mat{};
}

void CpuBackend::flash_attention(Mat Q, Mat K, Mat V, Real scale, const Tiling& all, Mat S, Mat state, Mat Y, Mat L, Mat counts) {
  counts(0, 0) = counts(0, 1) = 0;
  Tiling t = all;
  for (int b = 0; b < t.batch; ++b) {
    t.keep = all.keep_of(b);
    for (int h = 0; h < t.heads; ++h) {
      const int g = h / (t.heads / t.kv_heads);
      const Mat k = part(K, b, t.batch, g, t.kv_heads), v = part(V, b, t.batch, g, t.kv_heads);
      attend(part(Q, b, t.batch, h, t.heads), k, v, scale, t, S, state, part(Y, b, t.batch, h, t.heads), part(L, b, t.batch, h, t.heads), counts);
    }
  }
}

void CpuBackend::flash_attention_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling& all, Mat Y, Mat L, Mat dY, Mat dL, Mat D, Mat S, Mat dQ, Mat dK, Mat dV, const bool* accumulate) {
  const Mat gradients[] = {dQ, dK, dV};
  for (int i = 0; i < 3; ++i)
    if (gradients[i].data && !accumulate[i]) CpuBackend::fill(gradients[i], 0);
  Tiling t = all;
  for (int b = 0; b < t.batch; ++b) {
    t.keep = all.keep_of(b);
    for (int h = 0; h < t.heads; ++h) {
      const int g = h / (t.heads / t.kv_heads);
      const Mat k = part(K, b, t.batch, g, t.kv_heads), v = part(V, b, t.batch, g, t.kv_heads), dk = part(dK, b, t.batch, g, t.kv_heads), dv = part(dV, b, t.batch, g, t.kv_heads);
      const Mat dy = part(dY, b, t.batch, h, t.heads), d = part(D, b, t.batch, h, t.heads);
      CpuBackend::fill(d, 0);
      CpuBackend::add_row_dots(dy, part(Y, b, t.batch, h, t.heads), d);
      if (dL.data) CpuBackend::add_scaled(-1, part(dL, b, t.batch, h, t.heads), d);
      attend_backward(part(Q, b, t.batch, h, t.heads), k, v, scale, t, part(L, b, t.batch, h, t.heads), d, dy, S, part(dQ, b, t.batch, h, t.heads), dk, dv);
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
