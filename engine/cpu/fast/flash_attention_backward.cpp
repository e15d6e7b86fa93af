#include "engine/cpu/fast/attention_tiles.h"
#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/share.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// The way back of flash_attention.cpp beside it. A key head of a sequence belongs to one thread, with the query heads that read it,
// since their gradients meet in dK and dV.
//
//   per query head   scale · Q and dY packed in rows    D = rowsum(dY ∘ Y) - dL      O(n) scratch of the thread
//   per tile of keys Kᵀ, Vᵀ and scale · K packed
//   per tile         P = e^(Q Kᵀ - L)   dE = P ∘ (dY Vᵀ - D)      dV += Pᵀ dY   dK += dEᵀ Q   dQ += dE K      two, then three products
//
// The scale is in the packed Q and K, so dE is not multiplied by it. Sums that are added to again and again, dQ of the head, dK and
// dV of a tile of keys, run in scratch: there their rows lie side by side.

namespace {
struct Gradients {  // of one head; each may be without memory
  Mat dQ, dK, dV;
  bool accumulate[3];
};
struct Packed {
  Real *q, *dy, *L, *D;         // of all queries
  Real *k, *k_strips, *v_strips;  // of one tile of keys
  Real *P, *dE;                 // tiles; dE holds dP at first
  Real *dQ, *dK, *dV;           // sums: of the head, of the tile of keys
};
}  // namespace

static std::size_t head_scratch(int n, int d, int d_v) {
  return std::size_t(n) * (2 * whole(d) + whole(d_v) + 2) + std::size_t(kKeys + kCols) * (d + d_v) + std::size_t(kKeys) * (2 * whole(d) + whole(d_v)) +
         2 * std::size_t(kQueries) * kTileLd + 12 * 16;
}

static Packed divide(Real* next, int n, int d, int d_v) {
  const std::size_t rows = std::size_t(n), keys = kKeys + kCols, wide = std::size_t(whole(d)), wide_v = std::size_t(whole(d_v));
  return {take(next, rows * wide), take(next, rows * wide_v), take(next, rows), take(next, rows), take(next, kKeys * wide),
          take(next, keys * d), take(next, keys * d_v), take(next, std::size_t(kQueries) * kTileLd), take(next, std::size_t(kQueries) * kTileLd),
          take(next, rows * wide), take(next, kKeys * wide), take(next, kKeys * wide_v)};
}

static void clear(Real* p, int n) {
  for (int i = 0; i < n; ++i) p[i] = 0;
}

// Rows first, first + 1, ... of x += (or =) the sums.
static void give_rows(const Real* sums, int rows, int first, Mat x, bool accumulate) {
  const int wide = whole(x.cols);
  for (int r = 0; r < rows; ++r, sums += wide) {
    Real* to = x.row(first + r);
    announce(x, first + r + kAhead);
    int c = 0;
    for (; c + L <= x.cols; c += L) store(to + c, accumulate ? load(to + c) + load(sums + c) : load(sums + c));
    for (; c < x.cols; ++c) to[c] = accumulate ? to[c] + sums[c] : sums[c];
  }
}

// L and D of every query. A query that sees nothing has L = -inf; any number will do for it.
static void row_numbers(Mat Y, Mat L_, Mat dY, Mat dL, Mat D, const Packed& to) {
  for (int i = 0; i < Y.rows; ++i) {
    const Real *y = Y.row(i), *dy = dY.row(i), l = *L_.row(i);
    vec sum{};
    int c = 0;
    for (; c + L <= Y.cols; c += L) sum += load(y + c) * load(dy + c);
    double dot = sum_of(sum);
    for (; c < Y.cols; ++c) dot += double(y[c]) * dy[c];
    to.L[i] = l == kHidden ? 0 : l;
    to.D[i] = *D.row(i) = Real(dL.data ? dot - *dL.row(i) : dot);
  }
}

// One row: P from the scores, dE from dP.
static void weights(Real* s, Real* g, int end, Real L_i, Real D_i) {
  const vec l = splat(L_i), D = splat(D_i);
  for (int c = 0; c < end; c += L) {
    const vec p = exp_tame(load(s + c) - l), dE = p * (load(g + c) - D);
    store(s + c, p);
    store(g + c, p == vec{} ? p : dE);  // beside the diagonal dP was not computed
  }
}

static void head_backward(const HeadTask& h, const Packed& at, const Gradients& to) {
  const int d = h.Q.cols, d_v = h.V.cols, wide = whole(d), wide_v = whole(d_v), n = h.Q.rows, m = h.K.rows;
  const bool want_dE = to.dQ.data || to.dK.data;
  clear(at.dQ, n * wide);
  for (int j = 0; j < m; j += kKeys) {
    const int keys = least(kKeys, m - j);
    pack_transposed(h.K, j, keys, at.k_strips);
    if (want_dE) pack_transposed(h.V, j, keys, at.v_strips);
    if (to.dQ.data) pack_rows(h.K, j, keys, h.scale, at.k);
    clear(at.dK, keys * wide);
    clear(at.dV, keys * wide_v);
    for (int i = 0; i < n; i += kQueries) {
      const Block b = h.block(i, j);
      if (b.seen(b.rows - 1) == 0 || !anything_kept(h, b)) continue;
      const Real *q = at.q + std::ptrdiff_t(i) * wide, *dy = at.dy + std::ptrdiff_t(i) * wide_v;
      scores(b, d, q, wide, at.k_strips, at.P);
      if (want_dE) scores(b, d_v, dy, wide_v, at.v_strips, at.dE);
      for (int r = 0; r < b.rows; ++r) {
        const int group = b.seen(least(r / kRows * kRows + kRows, b.rows) - 1);
        const int end = whole(least(b.cols, group + kRows));  // a group of keys reads so far
        hide(h, b, r, end, at.P + r * kTileLd);
        weights(at.P + r * kTileLd, at.dE + r * kTileLd, end, at.L[i + r], at.D[i + r]);
      }
      if (to.dV.data) add_over_queries(b, at.P, dy, wide_v, at.dV);
      if (to.dK.data) add_over_queries(b, at.dE, q, wide, at.dK);
      if (to.dQ.data) add_over_keys(b, at.dE, at.k, wide, at.dQ + std::ptrdiff_t(i) * wide);
    }
    if (to.dK.data) give_rows(at.dK, keys, j, to.dK, to.accumulate[1]);
    if (to.dV.data) give_rows(at.dV, keys, j, to.dV, to.accumulate[2]);
  }
  if (to.dQ.data) give_rows(at.dQ, n, 0, to.dQ, to.accumulate[0]);
}

void FastCpu::flash_attention_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat Y, Mat L_, Mat dY, Mat dL, Mat D, Mat S, Mat dQ, Mat dK, Mat dV, const bool* accumulate) {
  const int n = Q.rows / t.batch, m = K.rows / t.batch, d = Q.cols / t.heads, d_v = V.cols / t.kv_heads, group = t.heads / t.kv_heads;
  if (t.tau > 0 || t.queries < least(n, 16) || t.keys < least(m, 16)) {
    CpuBackend::flash_attention_backward(Q, K, V, scale, t, Y, L_, dY, dL, D, S, dQ, dK, dV, accumulate);
    return;
  }
  share(t.batch * t.kv_heads, 2.0 * group * n * m * (3 * d + 2 * d_v), [&](int first, int last) {
    for (int u = first; u < last; ++u) {
      for (int h = u % t.kv_heads * group; h < (u % t.kv_heads + 1) * group; ++h) {
        const int b = u / t.kv_heads, g = u % t.kv_heads;
        const HeadTask head = head_task(Q, K, V, scale, t, b, h);
        const Mat y = part_of(Y, b, t.batch, h, t.heads), l = part_of(L_, b, t.batch, h, t.heads), dy = part_of(dY, b, t.batch, h, t.heads);
        const Mat dl = part_of(dL, b, t.batch, h, t.heads), D_h = part_of(D, b, t.batch, h, t.heads);
        const bool later = h % group != 0;  // another query head has stored dK and dV
        const Gradients to{part_of(dQ, b, t.batch, h, t.heads), part_of(dK, b, t.batch, g, t.kv_heads), part_of(dV, b, t.batch, g, t.kv_heads),
                           {accumulate[0], accumulate[1] || later, accumulate[2] || later}};
        Real* scratch = thread_scratch(Scratch::attention, head_scratch(n, d, d_v));
        if (head.hides() && !(all_finite(head.Q) && all_finite(head.K) && all_finite(head.V) && all_finite(dy))) {
          CpuBackend::flash_attention_backward(head.Q, head.K, head.V, scale, plain_tiling(head), y, l, dy, dl, D_h,
                                               {scratch, kPlainTile, kPlainTile, kPlainTile}, to.dQ, to.dK, to.dV, to.accumulate);
          continue;
        }
        const Packed at = divide(scratch, n, d, d_v);
        pack_rows(head.Q, 0, n, scale, at.q);
        pack_rows(dy, 0, n, 1, at.dy);
        row_numbers(y, l, dy, dl, D_h, at);
        head_backward(head, at, to);
      }
    }
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
