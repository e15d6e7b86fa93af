// What the two halves of fast attention share: a tile of scores, what of it is seen, and the three kinds of products around it.
//
//   S = A Bᵀ         queries x keys from rows of queries and of keys: Q Kᵀ, dY Vᵀ      (B packed transposed, in strips)
//   C += S B         rows of queries from rows of keys:  Y from V, dQ from K
//   C += Sᵀ B        rows of keys from rows of queries:  dV from dY, dK from Q
//
// Under a causal flag each group of kRows queries (or keys) takes the part of its row (or column) that is seen, in whole
// vectors: above the diagonal nothing is computed, and beside it little.
#pragma once

#include "engine/backend.h"
#include "engine/cpu/fast/pack.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

constexpr int kQueries = 96, kKeys = 192;  // of a tile: 72 KB in float, in the second cache with all that it meets
constexpr int kTileLd = kKeys + L;         // rows a power of two apart would fall on the same few lines of the cache
constexpr Real kHidden = -Real(INFINITY);

static inline int whole(int n) { return (n + L - 1) / L * L; }  // whole vectors

// A piece of scratch, on a cache line of its own.
static inline Real* take(Real*& next, std::size_t numbers) {
  Real* p = next;
  next += (numbers + 15) / 16 * 16;
  return p;
}

// Queries i, i+1, ... and keys j, j+1, ... of one head of one sequence. Row r sees the columns before seen(r).
struct Block {
  int i, rows, j, cols;
  int ahead;  // query i sees the keys up to i + ahead
  int seen(int r) const {
    const int last = i + r + ahead + 1 - j;
    return last < 0 ? 0 : least(last, cols);
  }
  int first(int c) const {  // row that sees column c
    const int r = j + c - ahead - i;
    return r < 0 ? 0 : r;
  }
};

// The part of a matrix that belongs to sequence b and to block h of columns; of nothing, nothing.
static inline Mat part_of(Mat x, int b, int batch, int h, int heads) {
  const int rows = x.rows / batch, cols = x.cols / heads;
  return {x.data ? x.data + std::ptrdiff_t(b) * rows * x.ld + std::ptrdiff_t(h) * cols : nullptr, rows, cols, x.ld};
}

// One head of one sequence, as it is cut out of the matrices of all of them.
struct HeadTask {
  Mat Q, K, V;
  Real scale;
  const unsigned char* keep;   // null: none
  std::ptrdiff_t keep_stride;  // 0: the same row for every query
  bool causal;

  int ahead() const { return causal ? K.rows - Q.rows : K.rows; }
  bool hides() const { return causal || keep; }
  const unsigned char* keep_row(int i, int j) const { return keep ? keep + i * keep_stride + j : nullptr; }
  Block block(int i, int j) const { return {i, least(kQueries, Q.rows - i), j, least(kKeys, K.rows - j), ahead()}; }
};

static inline HeadTask head_task(Mat Q, Mat K, Mat V, Real scale, const Tiling& t, int b, int h) {
  const int g = h / (t.heads / t.kv_heads), rows = t.keep.rows / t.masks;
  const unsigned char* keep = t.keep.rows ? t.keep.data + (t.masks > 1 ? std::ptrdiff_t(b) * rows * t.keep.cols : 0) : nullptr;
  return {part_of(Q, b, t.batch, h, t.heads), part_of(K, b, t.batch, g, t.kv_heads), part_of(V, b, t.batch, g, t.kv_heads),
          scale, keep, rows > 1 ? t.keep.cols : 0, t.causal};
}

// The same head for the plain kernel, which needs room for one of its tiles.
constexpr int kPlainTile = 32;
static inline Tiling plain_tiling(const HeadTask& h) {
  Tiling t;
  t.queries = t.keys = kPlainTile;
  t.causal = h.causal;
  if (h.keep) t.keep = {const_cast<unsigned char*>(h.keep), h.keep_stride ? h.Q.rows : 1, h.K.rows};
  return t;
}

// Whether the mask leaves anything of a block.
static inline bool anything_kept(const HeadTask& h, const Block& b) {
  if (!h.keep) return true;
  for (int r = h.keep_stride ? 0 : b.rows - 1; r < b.rows; ++r) {
    const unsigned char* keep = h.keep_row(b.i + r, b.j);
    for (int c = 0; c < b.seen(r); ++c)
      if (keep[c]) return true;
  }
  return false;
}

// Rows of a head lie far apart, too far for the processor to see them coming.
static inline void announce(Mat x, int r) {
  if (r >= x.rows) return;
  for (int c = 0; c < x.cols; c += 64 / int(sizeof(Real))) __builtin_prefetch(x.data + std::ptrdiff_t(r) * x.ld + c);
}
constexpr int kAhead = 8;  // rows

// A product sums 0 · NaN over the pairs that are hidden. So whoever hides pairs asks first.
static inline bool all_finite(Mat x) {
  vec zeros{};
  Real tail = 0;
  for (int r = 0; r < x.rows; ++r) {
    const Real* row = x.data + std::ptrdiff_t(r) * x.ld;
    announce(x, r + kAhead);
    int c = 0;
    for (; c + L <= x.cols; c += L) zeros += load(row + c) * splat(0);
    for (; c < x.cols; ++c) tail += row[c] * 0;
  }
  return sum_of(zeros) + tail == 0;
}

// s x, each row filled up with zeros to whole vectors.
static inline void pack_rows(Mat x, int first, int rows, Real s, Real* to) {
  const int wide = whole(x.cols);
  for (int r = 0; r < rows; ++r, to += wide) {
    const Real* row = x.data + std::ptrdiff_t(first + r) * x.ld;
    announce(x, first + r + kAhead);
    int c = 0;
    for (; c + L <= x.cols; c += L) store(to + c, load(row + c) * splat(s));
    if (c < x.cols) store(to + c, load_some(row + c, x.cols - c, 0) * splat(s));
  }
}

// xᵀ in strips of kCols columns, the last one filled up with zeros: the strip of row j of x starts at to + j * x.cols.
static inline void pack_transposed(Mat x, int first, int rows, Real* to) {
  for (int j = 0; j < rows; j += kCols) {
    const Strided xT{x.data + std::ptrdiff_t(first + j) * x.ld, 1, x.ld};
    pack_columns(xT, x.cols, least(kCols, rows - j), to + std::ptrdiff_t(j) * x.cols);
  }
}

// S = A Bᵀ. a: rows of `depth` numbers, `lda` apart.
static inline void scores(const Block& b, int depth, const Real* a, int lda, const Real* strips, Real* S) {
  for (int j = 0; j < b.cols; j += kCols) {
    for (int i = 0; i < b.rows; i += kRows) {
      const int rows = least(kRows, b.rows - i), cols = least(kCols, whole(b.seen(i + rows - 1)) - j);
      if (cols > 0) tile_for(rows, cols)(depth, {a + i * lda, lda, 1}, strips + std::ptrdiff_t(j) * depth, kCols, S + i * kTileLd + j, kTileLd, cols, {nullptr, false});
    }
  }
}

// C += S B. Rows of B and of C have `wide` numbers, whole vectors.
static inline void add_over_keys(const Block& b, const Real* S, const Real* B, int wide, Real* c) {
  for (int k = 0; k < wide; k += kCols) {
    const int cols = least(kCols, wide - k);
    for (int i = 0; i < b.rows; i += kRows) {
      const int rows = least(kRows, b.rows - i);
      tile_for(rows, cols)(b.seen(i + rows - 1), {S + i * kTileLd, kTileLd, 1}, B + k, wide, c + i * wide + k, wide, cols, {nullptr, true});
    }
  }
}

// C += Sᵀ B
static inline void add_over_queries(const Block& b, const Real* S, const Real* B, int wide, Real* c) {
  for (int k = 0; k < wide; k += kCols) {
    const int cols = least(kCols, wide - k);
    for (int j = 0; j < b.cols; j += kRows) {
      const int first = b.first(j), rows = least(kRows, b.cols - j);
      if (first >= b.rows) break;
      tile_for(rows, cols)(b.rows - first, {S + first * kTileLd + j, 1, kTileLd}, B + std::ptrdiff_t(first) * wide + k, wide, c + j * wide + k, wide, cols, {nullptr, true});
    }
  }
}

// Hidden scores of row r of a block become -inf: those of the mask, and from seen(r) to `end`.
static inline void hide(const HeadTask& h, const Block& b, int r, int end, Real* s) {
  const int seen = b.seen(r);
  if (const unsigned char* keep = h.keep_row(b.i + r, b.j))
    for (int c = 0; c < seen; ++c) s[c] = keep[c] ? s[c] : kHidden;
  for (int c = seen; c < end; ++c) s[c] = kHidden;
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
