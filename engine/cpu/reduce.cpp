#include <cmath>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Sums run in double in both precisions: in float, adding ones stops at 2^24.

void CpuBackend::sum(Mat x, Real s, Mat y) {
  double total = 0;
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) total += x(i, j);
  y(0, 0) = Real(s * total);
}

void CpuBackend::add_row_sums(Real s, Mat x, Mat y) {
  for (int i = 0; i < x.rows; ++i) {
    double total = 0;
    for (int j = 0; j < x.cols; ++j) total += x(i, j);
    y(i, 0) += Real(s * total);
  }
}

void CpuBackend::add_col_sums(Real s, Mat x, Mat y) {
  for (int j = 0; j < x.cols; ++j) {
    double total = 0;
    for (int i = 0; i < x.rows; ++i) total += x(i, j);
    y(0, j) += Real(s * total);
  }
}

void CpuBackend::row_max(Mat x, Mat y, Ints where) {
  for (int i = 0; i < x.rows; ++i) {
    int k = 0;
    for (int j = 1; j < x.cols; ++j) {
      if (std::isnan(x(i, k))) break;  // NaN is passed on, not skipped
      if (x(i, j) > x(i, k) || std::isnan(x(i, j))) k = j;
    }
    where.data[i] = k;
    y(i, 0) = x(i, k);
  }
}

void CpuBackend::take_at(Mat x, Ints where, Mat y) {
  for (int i = 0; i < y.rows; ++i) y(i, 0) = x(i, where.data[i]);
}

void CpuBackend::add_at(Mat dy, Ints where, Mat dx) {
  for (int i = 0; i < dx.rows; ++i) dx(i, where.data[i]) += dy(i, 0);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
