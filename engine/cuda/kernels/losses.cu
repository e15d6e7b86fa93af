// Cross-entropy and the Kullback-Leibler divergence: engine/cpu/losses.cpp has the formulas.
//
// A warp computes the loss of a row; one block adds the losses up, always in the same order, so that the same numbers
// give the same bits. (Adding each to the result by atomicAdd would be one launch less, and a sum in any order.)
#include "engine/cuda/cuda.h"
#include "engine/cuda/rows.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// losses_i = lse - (1 - ε) x_t - ε mean(x), all relative to the maximum: huge logits would swallow the difference
__global__ void row_losses_kernel(DeviceMat x, const int* targets, int ignore, double smoothing, double* losses) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const int t = targets[i];
  if (t == ignore) {
    if (threadIdx.x == 0) losses[i] = 0;
    return;
  }
  const float m = row_maximum(x.row(i), x.cols);
  double sum = 0, mean = 0;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) {
    sum += exp(double(x(i, j)) - m);
    mean += (double(x(i, j)) - m) / x.cols;
  }
  sum = warp_sum(sum);
  mean = warp_sum(mean);
  if (threadIdx.x != 0) return;
  losses[i] = log(sum) - (1 - smoothing) * (double(x(i, t)) - m) - (smoothing > 0 ? smoothing * mean : 0);
}

// One block: y = Σ losses / count, or only the count, if there is nothing to add up.
constexpr int kThreads = 256;
__global__ void mean_kernel(const double* losses, const int* targets, int n, int ignore, float* y, int* count) {
  __shared__ double sums[kThreads / 32];
  __shared__ int counts[kThreads / 32];
  double sum = 0;
  int counted = 0;
  for (int i = int(threadIdx.x); i < n; i += kThreads) {
    if (losses) sum += losses[i];
    counted += targets[i] != ignore;
  }
  sum = warp_sum(sum);
  counted = warp_sum(counted);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum, counts[threadIdx.x / 32] = counted;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int w = 1; w < kThreads / 32; ++w) sum += sums[w], counted += counts[w];
  if (y) *y = counted ? float(sum / counted) : 0.0f;
  if (count) *count = counted;
}

// dx_ij += dy (P_ij - q_j) / count
__global__ void cross_entropy_backward_kernel(DeviceMat P, const int* targets, int ignore, double smoothing,
                                              const float* dy, const int* count, DeviceMat dx) {
  const int i = row_of_warp();
  if (i >= dx.rows || targets[i] == ignore) return;
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) {
    const double q = (1 - smoothing) * (j == targets[i]) + smoothing / dx.cols;
    dx(i, j) += float(*dy * (P(i, j) - q) / *count);
  }
}

__global__ void kl_kernel(DeviceMat p, DeviceMat log_q, DeviceMat y) {
  const int i = row_of_warp();
  if (i >= p.rows) return;
  double sum = 0;
  for (int j = int(threadIdx.x); j < p.cols; j += 32) {
    if (p(i, j) != 0) sum += p(i, j) * (log(double(p(i, j))) - log_q(i, j));
  }
  sum = warp_sum(sum);
  if (threadIdx.x == 0) y(i, 0) = float(sum);
}

__global__ void kl_backward_kernel(DeviceMat p, DeviceMat dy, DeviceMat dlog_q) {
  const int i = row_of_warp();
  if (i >= p.rows) return;
  for (int j = int(threadIdx.x); j < p.cols; j += 32) dlog_q(i, j) -= p(i, j) * dy(i, 0);
}

}  // namespace

void CudaBackend::cross_entropy(Mat x, Ints targets, int ignore, double smoothing, Mat P, Mat y) {
  softmax_rows(x, P);
  double* losses = static_cast<double*>(pool.take(std::size_t(x.rows) * sizeof(double)));
  if (x.rows > 0) {
    launch(warp_per_row(x.rows, stream), row_losses_kernel, x, targets.data, ignore, smoothing, losses);
  }
  launch({dim3(1), dim3(kThreads), 0, stream}, mean_kernel, losses, targets.data, x.rows, ignore, y.data, nullptr);
  pool.give(losses);  // what is launched later on this stream may have it
}

void CudaBackend::cross_entropy_backward(Mat P, Ints targets, int ignore, double smoothing, Mat dy, Mat dx) {
  if (dx.rows == 0 || dx.cols == 0) return;
  int* count = static_cast<int*>(pool.take(sizeof(int)));
  launch({dim3(1), dim3(kThreads), 0, stream}, mean_kernel, nullptr, targets.data, dx.rows, ignore, nullptr, count);
  launch(warp_per_row(dx.rows, stream), cross_entropy_backward_kernel, P, targets.data, ignore, smoothing, dy.data,
         count, dx);
  pool.give(count);
}

void CudaBackend::kl(Mat p, Mat log_q, Mat y) {
  if (p.rows == 0) return;
  launch(warp_per_row(p.rows, stream), kl_kernel, p, log_q, y);
}

void CudaBackend::kl_backward(Mat p, Mat dy, Mat dlog_q) {
  if (p.rows == 0 || p.cols == 0) return;
  launch(warp_per_row(p.rows, stream), kl_backward_kernel, p, dy, dlog_q);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
