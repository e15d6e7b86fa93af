#include "engine/cpu/ladder.h"

#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/simd.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// C = A B: m x n = m x k times k x n. Slow to fast, one idea more in each version; the last is engine/cpu/fast/matmul.cpp.

static int least(int a, int b) { return a < b ? a : b; }

// 1. The definition: each entry of C is the dot product of a row and a column.
//    The column jumps from row to row of B, and each sum waits for the one before.
static void three_loops(Mat A, Mat B, Mat C) {
  for (int i = 0; i < C.rows; ++i)
    for (int j = 0; j < C.cols; ++j) {
      Real sum = 0;
      for (int k = 0; k < A.cols; ++k) sum += A.row(i)[k] * B.row(k)[j];
      C.row(i)[j] = sum;
    }
}

// Adds a_ik times row k of B to row i of C, for a block of k and of j.
static void add_rows(Mat A, Mat B, Mat C, int k0, int k1, int j0, int j1) {
  for (int i = 0; i < C.rows; ++i)
    for (int k = k0; k < k1; ++k) {
      const Real a = A.row(i)[k];
      const Real* b = B.row(k);
      Real* c = C.row(i);
      for (int j = j0; j < j1; ++j) c[j] += a * b[j];
    }
}

static void clear(Mat C) {
  for (int i = 0; i < C.rows; ++i)
    for (int j = 0; j < C.cols; ++j) C.row(i)[j] = 0;
}

// 2. The same products in another order, i k j: the innermost loop walks along rows of B and C, number after number.
//    A cache line is used up before it goes, and the compiler makes vectors of it.
static void rows_in_order(Mat A, Mat B, Mat C) {
  clear(C);
  add_rows(A, B, C, 0, A.cols, 0, C.cols);
}

// 3. A block of B at a time, small enough for the second cache: all rows of A meet it before it goes.
//    Memory sends each number of B once, not once for every row of A.
static constexpr int kDeep = 128, kWide = 512;

static void blocks(Mat A, Mat B, Mat C) {
  clear(C);
  for (int k = 0; k < A.cols; k += kDeep)
    for (int j = 0; j < C.cols; j += kWide) add_rows(A, B, C, k, least(k + kDeep, A.cols), j, least(j + kWide, C.cols));
}

// 4. A tile of C stays in registers while k runs: 4 rows of 2 vectors, 8 sums side by side.
//    A step loads 4 numbers of A and 2 vectors of B for 8 multiply-adds; C is loaded and stored once for a block of k.
static constexpr int kTileRows = 4, kTileVectors = 2, kTileCols = kTileVectors * L;

// b: rows of kTileCols numbers, ldb apart
static inline void tile(int depth, Mat A, int i, int k0, const Real* b, std::ptrdiff_t ldb, Mat C, int j) {
  vec sum[kTileRows][kTileVectors] = {};
  for (int k = 0; k < depth; ++k, b += ldb) {
    const vec b0 = load(b), b1 = load(b + L);
#pragma GCC unroll 4
    for (int r = 0; r < kTileRows; ++r) {
      const Real a = A.row(i + r)[k0 + k];
      sum[r][0] += a * b0;
      sum[r][1] += a * b1;
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < kTileRows; ++r) {
    Real* c = C.row(i + r) + j;
    store(c, load(c) + sum[r][0]);
    store(c + L, load(c + L) + sum[r][1]);
  }
}

// What no tile covers: the last rows and the last columns, as in version 2.
static void edges(Mat A, Mat B, Mat C, int k0, int k1) {
  const int rows = C.rows - C.rows % kTileRows, cols = C.cols - C.cols % kTileCols;
  const Mat below{A.row(rows), A.rows - rows, A.cols, A.ld};
  add_rows(A, B, C, k0, k1, cols, C.cols);
  add_rows(below, B, {C.row(rows), C.rows - rows, C.cols, C.ld}, k0, k1, 0, cols);
}

static void registers(Mat A, Mat B, Mat C) {
  clear(C);
  for (int k = 0; k < A.cols; k += kDeep) {
    const int depth = least(kDeep, A.cols - k);
    for (int j = 0; j + kTileCols <= C.cols; j += kTileCols)
      for (int i = 0; i + kTileRows <= C.rows; i += kTileRows) tile(depth, A, i, k, B.row(k) + j, B.ld, C, j);
    edges(A, B, C, k, k + depth);
  }
}

// 5. The columns of B that a tile needs are copied side by side first. In B they lie a whole row apart, so each row costs a cache
//    line and a page of its own; copied, they are one stream. The copy costs k n moves and serves all m rows.
static void packed(Mat A, Mat B, Mat C) {
  clear(C);
  Real* panel = thread_scratch(Scratch::columns, std::size_t(kDeep) * kTileCols);
  for (int k = 0; k < A.cols; k += kDeep) {
    const int depth = least(kDeep, A.cols - k);
    for (int j = 0; j + kTileCols <= C.cols; j += kTileCols) {
      for (int s = 0; s < depth; ++s)
        for (int v = 0; v < kTileCols; v += L) store(panel + s * kTileCols + v, load(B.row(k + s) + j + v));
      for (int i = 0; i + kTileRows <= C.rows; i += kTileRows) tile(depth, A, i, k, panel, kTileCols, C, j);
    }
    edges(A, B, C, k, k + depth);
  }
}

// 6. A larger tile, blocks for the second cache, edges with tiles of their own, and rows shared among threads.
static void fast_backend(Mat A, Mat B, Mat C) { backend().matmul(Product::NN, A, B, C, false); }

static double peak(long rounds, double* total) {
  vec sum[16] = {};
  vec a = splat(Real(0.5)), b = splat(Real(0.25));
  asm volatile("" : "+m"(a), "+m"(b));  // unknown to the compiler
  const vec p = a, q = b;
  for (long r = 0; r < rounds; ++r) {
#pragma GCC unroll 16
    for (int s = 0; s < 16; ++s) sum[s] = sum[s] * p + q;
  }
  *total = 0;
  for (int s = 0; s < 16; ++s) *total += sum_of(sum[s]);
  return 2.0 * 16 * L * double(rounds);
}

const Ladder& ladder() {
  static constexpr Rung rungs[] = {{1, "three loops", three_loops}, {2, "rows in order", rows_in_order}, {3, "blocks", blocks},
                                   {4, "registers", registers},     {5, "packed", packed},               {6, "fast backend", fast_backend}};
  static constexpr Ladder all = {rungs, 6, L, kTileRows, kTileVectors, peak};
  return all;
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
