#include "engine/cpu/fast/attention_tiles.h"
#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/share.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// The formulas are in engine/ops/flash_attention.cpp, the plain twin in engine/cpu/flash_attention.cpp. Here the tiles are large
// (96 queries, 192 keys), their products run on the register tile, and heads and blocks of queries are shared among threads.
//
//   per head             K packed transposed, V packed in rows               O(m) scratch of the thread
//   per block of queries scale · Q packed; m, l and acc of each query        l: a sum for each lane, joined at the end
//   per tile             S = Q Kᵀ   m' = max   P = e^(S - m')   l, acc rescaled   acc += P V
//
// A row is computed by one thread in one order: the same bits for any number of threads. Left to the plain kernel: a maximum that
// may lag behind (tau), tiles that are asked for by number because they are so small, and a head where pairs are hidden and a
// number is not finite.

namespace {
struct Rows {  // of a block of queries
  Real *top, *acc;
  vec* sum;
  int wide;  // numbers from one row of acc to the next
};
struct Counts {
  long tiles = 0, rescalings = 0;
};
}  // namespace

// Row r of a tile: P instead of the scores before `end`. Returns whether the sums so far had to be rescaled.
static bool absorb(Real* s, int end, const Rows& to, int r) {
  vec t = splat(kHidden);
  for (int c = 0; c < end; c += L) t = larger(t, load(s + c));
  const Real old = to.top[r], found = largest_of(t), m = found > old ? found : old;
  const vec base = splat(m == kHidden ? 0 : m);  // nothing seen yet: -inf - (-inf) would be NaN
  const bool rescale = m != old && old != kHidden;  // from -inf there is nothing to rescale
  to.top[r] = m;
  if (rescale) {
    const vec a = exp_tame(splat(old) - base);
    to.sum[r] *= a;
    for (int c = 0; c < to.wide; c += L) store(to.acc + r * to.wide + c, load(to.acc + r * to.wide + c) * a);
  }
  vec sum{};
  for (int c = 0; c < end; c += L) {
    const vec p = exp_tame(load(s + c) - base);
    sum += p;
    store(s + c, p);
  }
  to.sum[r] += sum;
  return rescale;
}

static void finish(const Rows& from, int r, int width, Real* y, Real* L_i) {
  const Real l = Real(sum_of(from.sum[r])), m = from.top[r];
  *L_i = l == 0 ? kHidden : m + std::log(l);
  const Real part = l == 0 ? 0 : 1 / l;  // l is NaN if a score is
  const Real* acc = from.acc + r * from.wide;
  int c = 0;
  for (; c + L <= width; c += L) store(y + c, load(acc + c) * splat(part));
  for (; c < width; ++c) y[c] = acc[c] * part;
}

static void attend_block(const HeadTask& h, int i, const Real* keys, const Real* values, Real* scratch, Mat Y, Mat L_, Counts& counts) {
  const int d = h.Q.cols, wide_v = whole(h.V.cols), rows = least(kQueries, h.Q.rows - i);
  Real* q = take(scratch, std::size_t(kQueries) * whole(d));
  Real* S = take(scratch, std::size_t(kQueries) * kTileLd);
  const Rows state{take(scratch, kQueries), take(scratch, std::size_t(kQueries) * wide_v), reinterpret_cast<vec*>(take(scratch, kQueries * L)), wide_v};
  pack_rows(h.Q, i, rows, h.scale, q);
  for (int r = 0; r < rows; ++r) state.top[r] = kHidden, state.sum[r] = vec{};
  for (int k = 0; k < rows * wide_v; ++k) state.acc[k] = 0;
  for (int j = 0; j < h.K.rows; j += kKeys) {
    const Block b = h.block(i, j);
    if (b.seen(rows - 1) == 0) break;
    if (!anything_kept(h, b)) continue;
    ++counts.tiles;
    scores(b, d, q, whole(d), keys + std::ptrdiff_t(j) * d, S);
    for (int r = 0; r < rows; ++r) {
      const int end = whole(b.seen(least(r / kRows * kRows + kRows, rows) - 1));  // of the group: what its product will read
      hide(h, b, r, end, S + r * kTileLd);
      counts.rescalings += absorb(S + r * kTileLd, end, state, r);
    }
    add_over_keys(b, S, values + std::ptrdiff_t(j) * wide_v, wide_v, state.acc);
  }
  for (int r = 0; r < rows; ++r) finish(state, r, h.V.cols, Y.row(i + r), L_.row(i + r));
}

static std::size_t block_scratch(int d, int d_v) { return std::size_t(kQueries) * (whole(d) + kTileLd + 1 + whole(d_v) + L) + 128; }

void FastCpu::flash_attention(Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat S, Mat state, Mat Y, Mat L_, Mat counts) {
  const int n = Q.rows / t.batch, m = K.rows / t.batch, d = Q.cols / t.heads, d_v = V.cols / t.kv_heads;
  if (t.tau > 0 || t.queries < least(n, 16) || t.keys < least(m, 16)) {
    CpuBackend::flash_attention(Q, K, V, scale, t, S, state, Y, L_, counts);
    return;
  }
  const int heads = t.batch * t.heads, blocks = (n + kQueries - 1) / kQueries;
  const int pieces = heads >= 2 * threads() ? 1 : least(blocks, (2 * threads() + heads - 1) / heads);
  const std::size_t keys = std::size_t(m + kCols) * d, values = std::size_t(m) * whole(d_v);
  Counts total;
  share(heads * pieces, 2.0 * n * m * (d + d_v) / pieces, [&](int first, int last) {
    Counts mine;
    int packed = -1;
    for (int u = first; u < last; ++u) {
      const int b = u / pieces / t.heads, h = u / pieces % t.heads, p = u % pieces;
      const HeadTask head = head_task(Q, K, V, scale, t, b, h);
      const Mat y = part_of(Y, b, t.batch, h, t.heads), l = part_of(L_, b, t.batch, h, t.heads);
      Real* next = thread_scratch(Scratch::attention, keys + values + block_scratch(d, d_v));
      if (head.hides() && !(all_finite(head.K) && all_finite(head.V))) {
        const Mat one{take(next, kPlainTile * kPlainTile), kPlainTile, kPlainTile, kPlainTile}, ml{take(next, 2 * kPlainTile), kPlainTile, 2, 2};
        if (p == 0) CpuBackend::flash_attention(head.Q, head.K, head.V, scale, plain_tiling(head), one, ml, y, l, {next, 1, 2, 2});
        continue;
      }
      Real* packed_k = take(next, keys);
      Real* packed_v = take(next, values);
      const int group = b * t.kv_heads + h / (t.heads / t.kv_heads);
      if (packed != group) {
        pack_transposed(head.K, 0, m, packed_k);
        pack_rows(head.V, 0, m, 1, packed_v);
        packed = group;
      }
      for (int i = part_start(blocks, p, pieces); i < part_start(blocks, p + 1, pieces); ++i) attend_block(head, i * kQueries, packed_k, packed_v, next, y, l, mine);
    }
#pragma omp atomic
    total.tiles += mine.tiles;
#pragma omp atomic
    total.rescalings += mine.rescalings;
  });
  counts.data[0] = Real(total.tiles);
  counts.data[1] = Real(total.rescalings);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
