//   y_ij = exp(x_ij - m_i) / Σ_k exp(x_ik - m_i)      m_i = max of row i
//
// A warp for each row; sums in double. A row of nothing but -inf is zeros.
#include "engine/cuda/cuda.h"
#include "engine/cuda/rows.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

__global__ void softmax_kernel(DeviceMat x, DeviceMat y) {
  const int i = row_of_warp();
  if (i >= y.rows) return;
  const float* xi = x.row(i);
  float* yi = y.row(i);
  const float m = row_maximum(xi, x.cols);
  double sum = 0;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) sum += expf(xi[j] - m);
  sum = warp_sum(sum);
  for (int j = int(threadIdx.x); j < x.cols; j += 32) yi[j] = m == -INFINITY ? 0.0f : float(expf(xi[j] - m) / sum);
}

// dx_ij += y_ij (dy_ij - Σ_k y_ik dy_ik)
__global__ void softmax_backward_kernel(DeviceMat y, DeviceMat dy, DeviceMat dx) {
  const int i = row_of_warp();
  if (i >= dx.rows) return;
  double dot = 0;
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) dot += double(y(i, j)) * dy(i, j);
  dot = warp_sum(dot);
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) dx(i, j) += float(y(i, j) * (dy(i, j) - dot));
}

}  // namespace

void CudaBackend::softmax_rows(Mat x, Mat y) {
  if (y.rows == 0 || y.cols == 0) return;
  launch(warp_per_row(y.rows, stream), softmax_kernel, x, y);
}

void CudaBackend::softmax_rows_backward(Mat y, Mat dy, Mat dx) {
  if (dx.rows == 0 || dx.cols == 0) return;
  launch(warp_per_row(dx.rows, stream), softmax_backward_kernel, y, dy, dx);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
