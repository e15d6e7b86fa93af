#include <cmath>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   x̂_ij = (x_ij - μ_i) r_i      μ_i = mean of row i      r_i = 1 / √(mean of (x_i - μ_i)² + eps)
//   y_ij = x̂_ij g_j + b_j
//
//   u_ij  = dy_ij g_j
//   dx_ij = r_i (u_ij - mean_k u_ik - x̂_ij mean_k u_ik x̂_ik)      dg_j = Σ_i dy_ij x̂_ij      db_j = Σ_i dy_ij
//
// In double, and in two passes: Σx² - (Σx)²/C would cancel for a large mean. (rms_norm: the same with μ = 0.)

static double mean_of(Mat x, int i) {
  double sum = 0;
  for (int j = 0; j < x.cols; ++j) sum += x(i, j);
  return sum / x.cols;
}

static double reciprocal_root(Mat x, int i, double mean, double eps) {
  double sum = 0;
  for (int j = 0; j < x.cols; ++j) sum += (x(i, j) - mean) * (x(i, j) - mean);
  return 1 / std::sqrt(sum / x.cols + eps);
}

void CpuBackend::layer_norm(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) {
  for (int i = 0; i < x.rows; ++i) {
    const double m = mean_of(x, i), r = reciprocal_root(x, i, m, eps);
    for (int j = 0; j < x.cols; ++j) y(i, j) = Real((x(i, j) - m) * r * gain(0, j) + bias(0, j));
    rstd(i, 0) = Real(r);
  }
}

void CpuBackend::layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias, bool accumulate) {
  if (dx.data && !accumulate) CpuBackend::fill(dx, 0);
  for (int i = 0; i < x.rows; ++i) {
    const double m = mean_of(x, i), r = rstd(i, 0);  // the mean again, not stored: it would be rounded in float
    double mean_u = 0, mean_ux = 0;
    for (int j = 0; j < x.cols; ++j) {
      const double u = double(dy(i, j)) * gain(0, j), xhat = (x(i, j) - m) * r;
      mean_u += u / x.cols;
      mean_ux += u * xhat / x.cols;
    }
    for (int j = 0; j < x.cols; ++j) {
      const double u = double(dy(i, j)) * gain(0, j), xhat = (x(i, j) - m) * r;
      if (dx.data) dx(i, j) += Real(r * (u - mean_u - xhat * mean_ux));
      if (dgain.data) dgain(0, j) += Real(dy(i, j) * xhat);
      if (dbias.data) dbias(0, j) += dy(i, j);
    }
  }
}

void CpuBackend::rms_norm(Mat x, Mat gain, double eps, Mat rrms, Mat y) {
  for (int i = 0; i < x.rows; ++i) {
    const double r = reciprocal_root(x, i, 0, eps);
    for (int j = 0; j < x.cols; ++j) y(i, j) = Real(x(i, j) * r * gain(0, j));
    rrms(i, 0) = Real(r);
  }
}

void CpuBackend::rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain, bool accumulate) {
  if (dx.data && !accumulate) CpuBackend::fill(dx, 0);
  for (int i = 0; i < x.rows; ++i) {
    const double r = rrms(i, 0);
    double mean_ux = 0;
    for (int j = 0; j < x.cols; ++j) mean_ux += double(dy(i, j)) * gain(0, j) * x(i, j) * r / x.cols;
    for (int j = 0; j < x.cols; ++j) {
      const double u = double(dy(i, j)) * gain(0, j), xhat = x(i, j) * r;
      if (dx.data) dx(i, j) += Real(r * (u - xhat * mean_ux));
      if (dgain.data) dgain(0, j) += Real(dy(i, j) * xhat);
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
