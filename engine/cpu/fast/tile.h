// The heart of every product: a tile of C that stays in registers while its sums run.
//
//   C[m x n] = start + A[m x k] B[k x n]       m <= kRows, n <= kCols = 4 vectors (2 without AVX-512)
//
// start: nothing, a row that is the same for all (a bias), or C itself.
//
// Each step of k loads a row of B (contiguous) and, for each row of the tile, spreads one number of A over a vector and adds
// their product: with 6 x 4 vectors that is 24 multiply-adds for 10 loads, and the adder is never kept waiting, since 24
// sums run side by side. A may lie anywhere: row and column strides, so A and Aᵀ are one code path.
#pragma once

#include <cstddef>

#include "engine/cpu/fast/simd.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

constexpr int kRows = 6;
constexpr int kVectors = GLASS_VECTOR_BYTES == 64 ? 4 : 2;  // 24 of 32 registers hold sums; 12 of 16 without AVX-512
constexpr int kCols = kVectors * L;

static inline int least(int a, int b) { return a < b ? a : b; }

struct Strided {  // element (i, k) is p[i * row + k * col]
  const Real* p;
  std::ptrdiff_t row, col;
  Strided at(std::ptrdiff_t i, std::ptrdiff_t k) const { return {p + i * row + k * col, row, col}; }
};

struct Start {
  const Real* row;  // of n numbers; nullptr: nothing, or C
  bool add;         // to C
};

// m rows and v vectors are known to the compiler, so that every sum has a register of its own.
template <int m, int v>
static void tile_of(int k, Strided A, const Real* b, std::ptrdiff_t ldb, Real* c, std::ptrdiff_t ldc, int n, Start start) {
  vec sum[m][v] = {};
  const Real* a[m];
#pragma GCC unroll 8
  for (int i = 0; i < m; ++i) {
    a[i] = A.p + i * A.row;
    for (int j = 0; j < v; ++j) __builtin_prefetch(c + i * ldc + j * L, 1);  // wanted k steps from now
  }
  if (start.row) {
    for (int j = 0; j < v; ++j) {
      const vec first = n - j * L >= L ? load(start.row + j * L) : load_some(start.row + j * L, n - j * L, 0);
      for (int i = 0; i < m; ++i) sum[i][j] = first;
    }
  }
  const std::ptrdiff_t step = A.col;
  for (std::ptrdiff_t s = 0; s < k; ++s, b += ldb) {
    vec row[v];
#pragma GCC unroll 4
    for (int j = 0; j < v; ++j) row[j] = load(b + j * L);
#pragma GCC unroll 8
    for (int i = 0; i < m; ++i) {
      const vec x = splat(a[i][s * step]);
#pragma GCC unroll 4
      for (int j = 0; j < v; ++j) sum[i][j] += x * row[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < m; ++i) {
    Real* out = c + i * ldc;
    if (n == v * L) {
#pragma GCC unroll 4
      for (int j = 0; j < v; ++j) store(out + j * L, start.add ? load(out + j * L) + sum[i][j] : sum[i][j]);
    } else {
#pragma GCC unroll 4
      for (int j = 0; j < v; ++j) {
        const int left = n - j * L < L ? n - j * L : L;
        for (int q = 0; q < left; ++q) out[j * L + q] = start.add ? out[j * L + q] + sum[i][j][q] : sum[i][j][q];
      }
    }
  }
}

using Tile = void (*)(int k, Strided A, const Real* b, std::ptrdiff_t ldb, Real* c, std::ptrdiff_t ldc, int n, Start start);

template <int v>
static inline Tile tile_of_rows(int m) {
  constexpr Tile rows[] = {tile_of<1, v>, tile_of<2, v>, tile_of<3, v>, tile_of<4, v>, tile_of<5, v>, tile_of<6, v>};
  return rows[m - 1];
}

// A smaller tile at the edges, instead of a full one that computes what nobody wants. n: columns, at most kCols.
static inline Tile tile_for(int m, int n) {
  const int v = (n + L - 1) / L;
  if constexpr (kVectors == 4) {
    if (v == 3) return tile_of_rows<3>(m);
    if (v == 4) return tile_of_rows<4>(m);
  }
  return v == 1 ? tile_of_rows<1>(m) : tile_of_rows<2>(m);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
