//   x̂_ij = (x_ij - μ_i) r_i      μ_i = mean of row i      r_i = 1 / √(mean of (x_i - μ_i)² + eps)
//   y_ij = x̂_ij g_j + b_j        (rms_norm: μ = 0, and no b)
//
// In double, and in two passes: Σx² - (Σx)²/C would cancel for a large mean.
#include "engine/cuda/cuda.h"
#include "engine/cuda/held_row.cuh"
#include "engine/cuda/ladder.h"
#include "engine/cuda/row_moments.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// 1. A thread for each row: neighbouring lanes read ld apart.
__global__ void thread_kernel(DeviceMat x, DeviceMat gain, DeviceMat bias, double eps, DeviceMat rstd, DeviceMat y) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= x.rows) return;
  double mean = 0, square = 0;
  for (int j = 0; j < x.cols; ++j) mean += x(i, j);
  mean /= x.cols;
  for (int j = 0; j < x.cols; ++j) square += (x(i, j) - mean) * (x(i, j) - mean);
  const double r = 1 / sqrt(square / x.cols + eps);
  for (int j = 0; j < x.cols; ++j) y(i, j) = float((x(i, j) - mean) * r * gain(0, j) + bias(0, j));
  rstd(i, 0) = float(r);
}

// 2. A warp for each row.
__global__ void layer_norm_kernel(DeviceMat x, DeviceMat gain, DeviceMat bias, double eps, DeviceMat rstd,
                                  DeviceMat y) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const double m = row_mean(x, i), r = reciprocal_root(x, i, m, eps);
  for (int j = int(threadIdx.x); j < x.cols; j += 32) y(i, j) = float((x(i, j) - m) * r * gain(0, j) + bias(0, j));
  if (threadIdx.x == 0) rstd(i, 0) = float(r);
}

// 3. The row in registers: x is read once, not three times. Rows of over 512 columns have a block each.
template <int kFours, bool kBlock>
__global__ void held_kernel(DeviceMat x, DeviceMat gain, DeviceMat bias, double eps, DeviceMat rstd, DeviceMat y) {
  const int i = held_row_number<kBlock>();
  if (i >= x.rows) return;
  using Row = HeldRow<kFours>;
  Row row(x.row(i), x.cols);
  const Row g(gain.data, x.cols), b(bias.data, x.cols);
  double m = 0, square = 0;
#pragma unroll
  for (int e = 0; e < 4 * kFours; ++e) m += row.v[e];
  m = held_row_sum<kBlock>(m) / x.cols;
#pragma unroll
  for (int e = 0; e < 4 * kFours; ++e) {
    if (Row::has(e, x.cols)) square += (row.v[e] - m) * (row.v[e] - m);
  }
  const double r = 1 / sqrt(held_row_sum<kBlock>(square) / x.cols + eps);
#pragma unroll
  for (int e = 0; e < 4 * kFours; ++e) row.v[e] = float((row.v[e] - m) * r * g.v[e] + b.v[e]);
  row.store(y.row(i), x.cols);
  if (threadIdx.x == 0) rstd(i, 0) = float(r);
}

__global__ void rms_norm_kernel(DeviceMat x, DeviceMat gain, double eps, DeviceMat rrms, DeviceMat y) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const double r = reciprocal_root(x, i, 0, eps);
  for (int j = int(threadIdx.x); j < x.cols; j += 32) y(i, j) = float(x(i, j) * r * gain(0, j));
  if (threadIdx.x == 0) rrms(i, 0) = float(r);
}

void by_threads(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y, cudaStream_t s) {
  if (x.rows == 0) return;
  launch({dim3(unsigned(ceil_div(x.rows, 128))), dim3(128), 0, s}, thread_kernel, x, gain, bias, eps, rstd, y);
}
void by_warps(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y, cudaStream_t s) {
  if (x.rows > 0) launch(warp_per_row(x.rows, s), layer_norm_kernel, x, gain, bias, eps, rstd, y);
}
void held(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y, cudaStream_t s) {
  if (!can_be_held(x) || !can_be_held(gain) || !can_be_held(bias) || !can_be_held(y)) return by_warps(x, gain, bias, eps, rstd, y, s);
  if (x.rows == 0) return;
  constexpr decltype(&held_kernel<1, false>) kernels[] = {held_kernel<1, false>, held_kernel<2, false>, held_kernel<4, false>,
                                                          held_kernel<1, true>,  held_kernel<2, true>,  held_kernel<4, true>};
  const int size = held_size(x.cols);
  launch(held_launch(size, x.rows, s), kernels[size], x, gain, bias, eps, rstd, y);
}

}  // namespace

std::span<const LayerNormVersion> cuda_layer_norm_ladder() {
  static const LayerNormVersion all[] = {{1, "threads", by_threads}, {2, "warps", by_warps}, {3, "rows in registers", held}};
  return all;
}

void CudaBackend::layer_norm(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) {
  held(x, gain, bias, eps, rstd, y, stream);
}

void CudaBackend::rms_norm(Mat x, Mat gain, double eps, Mat rrms, Mat y) {
  if (x.rows == 0) return;
  launch(warp_per_row(x.rows, stream), rms_norm_kernel, x, gain, eps, rrms, y);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
