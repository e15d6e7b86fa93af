#include <algorithm>

#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/tile.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// C = op(A) op(B). Both operands are a pointer and two strides, so NN, NT and TN are one code path.

static constexpr int kDepth = 384, kWidth = 768;  // a block of B, 1.2 MB: it stays in the second cache

static int least(int a, int b) { return a < b ? a : b; }

// b: k x n in strips of kCols columns, each strip k rows of kCols numbers, the last one filled up with zeros.
static void pack_strip(Strided B, int k, int n, Real* to) {
  for (int s = 0; s < k; ++s)
    for (int j = 0; j < kCols; ++j) to[s * kCols + j] = j < n ? B.p[s * B.row + j * B.col] : 0;
}

static void block(int m, int n, int k, Strided A, Strided B, Real* c, std::ptrdiff_t ldc, bool add) {
  Real* packed = thread_scratch(std::size_t(kDepth) * (kWidth + kCols));
  for (int j0 = 0; j0 < n; j0 += kWidth) {
    for (int k0 = 0; k0 < k; k0 += kDepth) {
      const int width = least(kWidth, n - j0), depth = least(kDepth, k - k0);
      for (int j = 0; j < width; j += kCols) pack_strip(B.at(k0, j0 + j), depth, least(kCols, width - j), packed + std::ptrdiff_t(j) * depth);
      for (int i = 0; i < m; i += kRows) {
        const int rows = least(kRows, m - i);
        for (int j = 0; j < width; j += kCols) {
          const int cols = least(kCols, width - j);
          tile_for(rows, cols)(depth, A.at(i, k0), packed + std::ptrdiff_t(j) * depth, kCols, c + i * ldc + j0 + j, ldc, cols, add || k0 > 0);
        }
      }
    }
  }
}

void FastCpu::matmul(Product product, Mat a, Mat b, Mat c, bool accumulate) {
  const int k = product == Product::TN ? a.rows : a.cols;
  if (k == 0) {
    if (!accumulate) fill(c, 0);
    return;
  }
  const Strided A = product == Product::TN ? Strided{a.data, 1, a.ld} : Strided{a.data, a.ld, 1};
  const Strided B = product == Product::NT ? Strided{b.data, 1, b.ld} : Strided{b.data, b.ld, 1};
  share((c.rows + kRows - 1) / kRows, 2.0 * kRows * c.cols * k, [&](int first, int last) {
    const int i = first * kRows;
    block(least(c.rows, last * kRows) - i, c.cols, k, A.at(i, 0), B, c.row(i), c.ld, accumulate);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
