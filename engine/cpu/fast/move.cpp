#include <cstring>

#include "engine/cpu/fast/each.h"
#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/transpose_tile.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// A transposition goes through one of its two matrices in the wrong order. Squares of 16 x 16 are turned in a buffer, so that each
// cache line of x is read once and each of y is written once, also where the rows lie a power of two apart and push each other out.
static constexpr int kSquare = 16;

template <bool add>
static inline void transpose_square(Mat x, Mat y, int i0, int j0, int m, int n) {
  Real turned[kSquare][kSquare];
  if (m == kSquare && n == kSquare) {
    for (int j = 0; j < n; j += L)
      for (int i = 0; i < m; i += L) transpose_tile(x.row(j0 + j) + i0 + i, x.ld, &turned[i][j], kSquare);
  } else {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) turned[i][j] = x.row(j0 + j)[i0 + i];
  }
  for (int i = 0; i < m; ++i) {
    Real* to = y.row(i0 + i) + j0;
    for (int j = 0; j < n; ++j) to[j] = add ? to[j] + turned[i][j] : turned[i][j];
  }
}

template <bool add>
static void transpose_all(Mat x, Mat y) {
  share((y.rows + kSquare - 1) / kSquare, 4.0 * kSquare * y.cols, [&](int first, int last) {
    for (int i = first * kSquare; i < last * kSquare && i < y.rows; i += kSquare)
      for (int j = 0; j < y.cols; j += kSquare) {
        const int m = y.rows - i, n = y.cols - j;
        for (int q = kSquare; q < 2 * kSquare && q < n; ++q) __builtin_prefetch(x.row(j + q) + i);  // no processor guesses these
        if (m >= kSquare && n >= kSquare) transpose_square<add>(x, y, i, j, kSquare, kSquare);
        else transpose_square<add>(x, y, i, j, m < kSquare ? m : kSquare, n < kSquare ? n : kSquare);
      }
  });
}

void FastCpu::transpose(Mat x, Mat y) {
  if (small(y)) CpuBackend::transpose(x, y);
  else transpose_all<false>(x, y);
}
void FastCpu::add_transposed(Mat x, Mat y) {
  if (small(y)) CpuBackend::add_transposed(x, y);
  else transpose_all<true>(x, y);
}

void FastCpu::gather_rows(Mat table, Ints ids, Mat y) {
  share_rows(y, 2, [&](int i) {
    if (y.cols) std::memcpy(y.row(i), table.row(ids.data[i]), std::size_t(y.cols) * sizeof(Real));
  });
}

// An id may come twice, so rows cannot be shared among threads; columns can. Each thread goes through all ids in order.
void FastCpu::scatter_rows(Mat dy, Ints ids, Mat dtable) {
  constexpr int kStrip = 4 * L;
  share((dy.cols + kStrip - 1) / kStrip, 3.0 * dy.rows * kStrip, [&](int first, int last) {
    const int from = first * kStrip, to = last * kStrip < dy.cols ? last * kStrip : dy.cols;
    for (int i = 0; i < dy.rows; ++i) {
      const Real* d = dy.row(i);
      Real* row = dtable.row(ids.data[i]);
      int j = from;
      for (; j + L <= to; j += L) store(row + j, load(row + j) + load(d + j));
      for (; j < to; ++j) row[j] += d[j];
    }
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
