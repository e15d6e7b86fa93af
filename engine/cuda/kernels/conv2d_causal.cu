//   Y_ij = Σ_ab W_ab X_(i-A+1+a, j-(B-1)/2+b)      X, Y: R x C    W: A x B    outside X there are zeros
//
// Forward and the gradient of X: a thread for each entry. The gradient of W has few entries and long sums: a block for
// each, whose 256 threads take every 256th entry of dY, and a tree of sums in shared memory, in double.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Conv2dCausal {  // Y_ij
  DeviceMat X, W;
  __device__ float operator()(int i, int j) const {
    float sum = 0;
    for (int a = 0; a < W.rows; ++a) {
      const int up = W.rows - 1 - a;
      for (int b = 0; b < W.cols; ++b) {
        const int from = j + b - (W.cols - 1) / 2;
        if (i >= up && from >= 0 && from < X.cols) sum += W(a, b) * X(i - up, from);
      }
    }
    return sum;
  }
};

struct Conv2dCausalBackwardX {  // dX_ij + Σ_ab W_ab dY_(i+A-1-a, j-b+(B-1)/2)
  DeviceMat dY, W, dX;
  __device__ float operator()(int i, int j) const {
    float sum = 0;
    for (int a = 0; a < W.rows; ++a) {
      const int to = i + W.rows - 1 - a;
      for (int b = 0; b < W.cols; ++b) {
        const int right = j - b + (W.cols - 1) / 2;
        if (to < dY.rows && right >= 0 && right < dY.cols) sum += W(a, b) * dY(to, right);
      }
    }
    return dX(i, j) + sum;
  }
};

__global__ void __launch_bounds__(kThreads) conv2d_causal_backward_w_kernel(DeviceMat X, DeviceMat dY, DeviceMat dW) {
  __shared__ double sums[kThreads];
  const int a = int(blockIdx.x) / dW.cols, b = int(blockIdx.x) % dW.cols, me = threadIdx.x;
  const int up = dW.rows - 1 - a, right = b - (dW.cols - 1) / 2;
  double sum = 0;
  for (std::ptrdiff_t k = me; k < std::ptrdiff_t(dY.rows) * dY.cols; k += kThreads) {
    const int i = int(k / dY.cols), j = int(k % dY.cols);
    if (i < up || j + right < 0 || j + right >= X.cols) continue;
    sum += double(dY(i, j)) * double(X(i - up, j + right));
  }
  sums[me] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();  // the sums of the last round are there
    if (me < half) sums[me] += sums[me + half];
  }
  if (me == 0) dW(a, b) += float(sums[0]);
}

}  // namespace

void CudaBackend::conv2d_causal(Mat X, Mat W, Mat Y) { each(Y, Conv2dCausal{X, W}, stream); }
void CudaBackend::conv2d_causal_backward_x(Mat dY, Mat W, Mat dX) { each(dX, Conv2dCausalBackwardX{dY, W, dX}, stream); }

void CudaBackend::conv2d_causal_backward_w(Mat X, Mat dY, Mat dW) {
  if (dW.rows == 0 || dW.cols == 0) return;
  const Launch shape{dim3(unsigned(dW.rows * dW.cols)), dim3(kThreads), 0, stream};
  launch(shape, conv2d_causal_backward_w_kernel, X, dY, dW);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
