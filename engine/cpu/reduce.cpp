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

void CpuBackend::add_row_dots(Mat a, Mat b, Mat y) {
  for (int i = 0; i < a.rows; ++i) {
    double dot = 0;
    for (int j = 0; j < a.cols; ++j) dot += double(a(i, j)) * b(i, j);
    y(i, 0) += Real(dot);
  }
}

void CpuBackend::add_col_dots(Mat a, Mat b, Mat y) {
  for (int j = 0; j < a.cols; ++j) {
    double dot = 0;
    for (int i = 0; i < a.rows; ++i) dot += double(a(i, j)) * b(i, j);
    y(0, j) += Real(dot);
  }
}

static double dot_of(Mat a, Mat b) {
  double dot = 0;
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) dot += double(a(i, j)) * b(i, j);
  return dot;
}

void CpuBackend::add_sum(Mat x, Mat y) {
  double total = 0;
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) total += x(i, j);
  y(0, 0) += Real(total);
}

void CpuBackend::add_dot(Mat a, Mat b, Mat y) { y(0, 0) += Real(dot_of(a, b)); }

void CpuBackend::norm(Mat x, Mat y) { y(0, 0) = Real(std::sqrt(dot_of(x, x))); }

}  // namespace GLASS_PRECISION
}  // namespace glass
