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

void CpuBackend::softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) {
  if (!accumulate) CpuBackend::fill(dx, 0);
  for (int i = 0; i < dx.rows; ++i) {
    double dot = 0;
    for (int j = 0; j < dx.cols; ++j) dot += double(y(i, j)) * dy(i, j);
    for (int j = 0; j < dx.cols; ++j) dx(i, j) += Real(y(i, j) * (dy(i, j) - dot));
  }
}

//   lse_i = m_i + l_i      l_i = ln Σ_j exp(x_ij - m_i)      a row of -inf: -inf, and no gradient
//
// x - lse is taken as (x - m) - l: added to a huge m, l would be rounded away.

namespace {
struct LogSum {
  double m, l;
};
}  // namespace

static LogSum log_sum_of(Mat x, int i) {
  Real m = x(i, 0);
  for (int j = 1; j < x.cols; ++j) m = x(i, j) > m ? x(i, j) : m;
  double sum = 0;
  for (int j = 0; j < x.cols; ++j) sum += std::exp(double(x(i, j)) - m);
  return {m, std::log(sum)};
}

void CpuBackend::log_sum_exp(Mat x, Mat y) {
  for (int i = 0; i < x.rows; ++i) {
    y(i, 0) = -std::numeric_limits<Real>::infinity();
    if (hidden_row(x, i)) continue;
    const LogSum s = log_sum_of(x, i);
    y(i, 0) = Real(s.m + s.l);
  }
}

void CpuBackend::log_sum_exp_backward(Mat x, Mat dy, Mat dx) {
  for (int i = 0; i < dx.rows; ++i) {
    if (hidden_row(x, i)) continue;
    const LogSum s = log_sum_of(x, i);
    for (int j = 0; j < dx.cols; ++j) dx(i, j) += Real(std::exp(x(i, j) - s.m - s.l) * dy(i, 0));
  }
}

void CpuBackend::log_softmax_rows(Mat x, Mat y) {
  for (int i = 0; i < x.rows; ++i) {
    const LogSum s = hidden_row(x, i) ? LogSum{0, 0} : log_sum_of(x, i);  // hidden: -inf stays -inf
    for (int j = 0; j < x.cols; ++j) y(i, j) = Real(x(i, j) - s.m - s.l);
  }
}

void CpuBackend::log_softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) {
  if (!accumulate) CpuBackend::fill(dx, 0);
  for (int i = 0; i < dx.rows; ++i) {
    if (hidden_row(y, i)) continue;
    double sum = 0;
    for (int j = 0; j < dx.cols; ++j) sum += dy(i, j);
    for (int j = 0; j < dx.cols; ++j) dx(i, j) += Real(dy(i, j) - std::exp(double(y(i, j))) * sum);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
