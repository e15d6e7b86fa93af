//   lse_i = m_i + l_i      l_i = ln Σ_j exp(x_ij - m_i)      a row of -inf: -inf, and no gradient
//
// A warp for each row. x - lse is taken as (x - m) - l: added to a huge m, l would be rounded away.
#include "engine/cuda/cuda.h"
#include "engine/cuda/rows.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct LogSum {
  double m, l;
};

__device__ LogSum log_sum_of(const float* row, int cols) {
  const float m = row_maximum(row, cols);
  double sum = 0;
  for (int j = int(threadIdx.x); j < cols; j += 32) sum += exp(double(row[j]) - m);
  return {m, log(warp_sum(sum))};
}

__global__ void log_sum_exp_kernel(DeviceMat x, DeviceMat y) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const LogSum s = log_sum_of(x.row(i), x.cols);
  if (threadIdx.x == 0) y(i, 0) = s.m == -INFINITY ? -INFINITY : float(s.m + s.l);
}

__global__ void log_sum_exp_backward_kernel(DeviceMat x, DeviceMat dy, DeviceMat dx) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const LogSum s = log_sum_of(x.row(i), x.cols);
  if (s.m == -INFINITY) return;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) dx(i, j) += float(exp(x(i, j) - s.m - s.l) * dy(i, 0));
}

__global__ void log_softmax_kernel(DeviceMat x, DeviceMat y) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  LogSum s = log_sum_of(x.row(i), x.cols);
  if (s.m == -INFINITY) s = {0, 0};  // -inf stays -inf
  for (int j = int(threadIdx.x); j < x.cols; j += 32) y(i, j) = float(x(i, j) - s.m - s.l);
}

// dx_ij += dy_ij - e^(y_ij) Σ_k dy_ik
__global__ void log_softmax_backward_kernel(DeviceMat y, DeviceMat dy, DeviceMat dx) {
  const int i = row_of_warp();
  if (i >= dx.rows) return;
  if (row_maximum(y.row(i), y.cols) == -INFINITY) return;
  double sum = 0;
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) sum += dy(i, j);
  sum = warp_sum(sum);
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) dx(i, j) += float(dy(i, j) - exp(double(y(i, j))) * sum);
}

}  // namespace

void CudaBackend::log_sum_exp(Mat x, Mat y) {
  if (x.rows == 0) return;
  launch(warp_per_row(x.rows, stream), log_sum_exp_kernel, x, y);
}

void CudaBackend::log_sum_exp_backward(Mat x, Mat dy, Mat dx) {
  if (dx.rows == 0 || dx.cols == 0) return;
  launch(warp_per_row(x.rows, stream), log_sum_exp_backward_kernel, x, dy, dx);
}

void CudaBackend::log_softmax_rows(Mat x, Mat y) {
  if (y.rows == 0 || y.cols == 0) return;
  launch(warp_per_row(x.rows, stream), log_softmax_kernel, x, y);
}

void CudaBackend::log_softmax_rows_backward(Mat y, Mat dy, Mat dx) {
  if (dx.rows == 0 || dx.cols == 0) return;
  launch(warp_per_row(dx.rows, stream), log_softmax_backward_kernel, y, dy, dx);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
