// Operands of a product, copied into the order in which the register tile (tile.h) reads them.
#pragma once

#include "engine/cpu/fast/tile.h"
#include "engine/cpu/fast/transpose_tile.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// A strip of B: k rows of n <= kCols numbers become k rows of kCols, filled up with zeros. Whole vectors are copied, or turned
// where the columns are contiguous.
static inline void pack_columns(Strided B, int k, int n, Real* to) {
  const int whole = n / L * L;
  int s = 0;
  if (B.col == 1 && n == kCols) {
    for (; s < k; ++s)
      for (int j = 0; j < kCols; j += L) store(to + s * kCols + j, load(B.p + s * B.row + j));
  } else if (B.row == 1) {
    for (; s + L <= k; s += L) {
      for (int j = 0; j < whole; j += L) transpose_tile(B.p + j * B.col + s, B.col, to + std::ptrdiff_t(s) * kCols + j, kCols);
      for (int i = s; i < s + L; ++i)
        for (int j = whole; j < kCols; ++j) to[i * kCols + j] = j < n ? B.p[i + j * B.col] : 0;
    }
  }
  for (; s < k; ++s)
    for (int j = 0; j < kCols; ++j) to[s * kCols + j] = j < n ? B.p[s * B.row + j * B.col] : 0;
}

constexpr int kStrips = 8;  // that are copied together: 48 numbers of a column of A, whole cache lines

// `strips` strips of kRows rows of A, whose columns are contiguous (A.row == 1): strip after strip, each k times kRows numbers.
template <int strips>
static inline void pack_strips(Strided A, int k, Real* to) {
  for (int s = 0; s < k; ++s) {
    const Real* from = A.p + s * A.col;
    Real* out = to + s * kRows;
    for (int i = 0; i < strips * kRows; i += 64 / int(sizeof(Real))) __builtin_prefetch(from + 16 * A.col + i);  // no hardware foresees the stride
#pragma GCC unroll 8
    for (int q = 0; q < strips; ++q) __builtin_memcpy(out + std::ptrdiff_t(q) * kRows * k, from + q * kRows, kRows * sizeof(Real));
  }
}

// The same for m rows, the last strip with fewer.
static inline void pack_left(Strided A, int m, int k, Real* to) {
  int i = 0;
  for (; i + kStrips * kRows <= m; i += kStrips * kRows) pack_strips<kStrips>(A.at(i, 0), k, to + std::ptrdiff_t(i) * k);
  for (; i + kRows <= m; i += kRows) pack_strips<1>(A.at(i, 0), k, to + std::ptrdiff_t(i) * k);
  for (int s = 0; s < k; ++s)
    for (int r = i; r < m; ++r) to[std::ptrdiff_t(i) * k + s * kRows + r - i] = A.p[r + s * A.col];
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
