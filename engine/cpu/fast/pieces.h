// A matrix of numbers that do not depend on each other, cut into pieces of at most 4096, and the pieces shared among threads.
#pragma once

#include "engine/cpu/fast/share.h"
#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

static inline bool in_one(Mat m) { return m.ld == m.cols || m.rows == 1; }  // its rows follow each other without a gap

// Calls part(i, j, n) for the n numbers of row i from column j on. one: take all rows for one long row; work: for each number.
template <class Part>
static inline void share_pieces(Mat m, bool one, double work, Part part) {
  const bool flat = one && std::int64_t(m.rows) * m.cols < (1 << 30);
  const int rows = flat ? 1 : m.rows, cols = flat ? m.rows * m.cols : m.cols;
  const int length = cols < 4096 ? cols : 4096, each = length ? (cols + length - 1) / length : 0;
  share(rows * each, work * length, [&](int first, int last) {
    for (int p = first; p < last; ++p) {
      const int i = p / each, j = p % each * length;
      part(i, j, cols - j < length ? cols - j : length);
    }
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
