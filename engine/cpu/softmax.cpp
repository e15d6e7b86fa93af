#include <cmath>
#include <limits>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   y_ij = exp(x_ij - m_i) / Σ_k exp(x_ik - m_i)      m_i = max of row i
//
// The maximum is taken per row: with one maximum for the whole matrix, a row far below it underflows to 0/0.

static bool hidden_row(Mat x, int i) {  // nothing but -inf: a query that may see no key
  for (int j = 0; j < x.cols; ++j)
    if (x(i, j) != -std::numeric_limits<Real>::infinity()) return false;
  return true;
}

void CpuBackend::softmax_rows(Mat x, Mat y) {
  for (int i = 0; i < y.rows; ++i) {
    if (hidden_row(x, i)) {  // -inf - (-inf) would be NaN; by our choice the row is exactly zero
      for (int j = 0; j < y.cols; ++j) y(i, j) = 0;
      continue;
    }
    Real m = x(i, 0);
    for (int j = 1; j < x.cols; ++j) m = x(i, j) > m ? x(i, j) : m;
    double sum = 0;
    for (int j = 0; j < y.cols; ++j) {
      y(i, j) = std::exp(x(i, j) - m);
      sum += y(i, j);
    }
    for (int j = 0; j < y.cols; ++j) y(i, j) = Real(y(i, j) / sum);
  }
}

void CpuBackend::softmax_rows_backward(Mat y, Mat dy, Mat dx) {
  for (int i = 0; i < dx.rows; ++i) {
    double dot = 0;
    for (int j = 0; j < dx.cols; ++j) dot += double(y(i, j)) * dy(i, j);
    for (int j = 0; j < dx.cols; ++j) dx(i, j) += Real(y(i, j) * (dy(i, j) - dot));
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
