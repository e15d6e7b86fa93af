#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Is b to be taken in place of a? Only a larger one is, so the first of equals stays; a NaN beats every number.
static bool beats(Real b, Real a) { return !std::isnan(a) && (b > a || std::isnan(b)); }

// Of the rows r0 to r1 and columns c0 to c1 of x: writes the maximum to y, and its place.
static void first_maximum(Mat x, int r0, int r1, int c0, int c1, Real& y, int& place) {
  int row = r0, col = c0;
  for (int i = r0; i < r1; ++i)
    for (int j = c0; j < c1; ++j)
      if (beats(x(i, j), x(row, col))) row = i, col = j;
  y = x(row, col);
  place = row * x.cols + col;
}

void CpuBackend::row_max(Mat x, Mat y, Ints where) {
  for (int i = 0; i < x.rows; ++i) first_maximum(x, i, i + 1, 0, x.cols, y(i, 0), where.data[i]);
}

void CpuBackend::col_max(Mat x, Mat y, Ints where) {
  for (int j = 0; j < x.cols; ++j) first_maximum(x, 0, x.rows, j, j + 1, y(0, j), where.data[j]);
}

void CpuBackend::max(Mat x, Mat y, Ints where) { first_maximum(x, 0, x.rows, 0, x.cols, y(0, 0), where.data[0]); }

void CpuBackend::top_k(Mat x, int k, Keep chosen) {
  for (int i = 0; i < x.rows; ++i) {
    unsigned char* const taken = chosen.data + std::ptrdiff_t(i) * x.cols;
    std::fill(taken, taken + x.cols, 0);
    for (int n = 0; n < k; ++n) {  // the largest of what is left, k times
      int best = -1;
      for (int j = 0; j < x.cols; ++j) {
        const bool free = !taken[j] && x(i, j) != -std::numeric_limits<Real>::infinity();
        if (free && (best < 0 || beats(x(i, j), x(i, best)))) best = j;
      }
      if (best < 0) break;
      taken[best] = 1;
    }
  }
}

void CpuBackend::take_at(Mat x, Ints where, Mat y) {
  int k = 0;
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j, ++k) y(i, j) = x(where.data[k] / x.cols, where.data[k] % x.cols);
}

void CpuBackend::add_at(Mat dy, Ints where, Mat dx) {
  int k = 0;
  for (int i = 0; i < dy.rows; ++i)
    for (int j = 0; j < dy.cols; ++j, ++k) dx(where.data[k] / dx.cols, where.data[k] % dx.cols) += dy(i, j);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
