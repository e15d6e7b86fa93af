//   Y_ij = Σ_ab W_ab X_(i-A+1+a, j-(B-1)/2+b)      X, Y: R x C    W: A x B    outside X there are zeros
//
// Forward and the gradient of X: a thread for each entry. The gradient of W has few entries and long sums: a block for
// each, whose threads take every 256th entry of dY, and a tree of sums in shared memory, in double.
#include "engine/cuda/cuda.h"
#include "engine/cuda/kernels/each_entry.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int kThreads = 256;

__global__ void conv2d_causal_kernel(DeviceMat X, DeviceMat W, DeviceMat Y) {
  const int j = my_column();
  if (j >= Y.cols) return;
  for (int i = blockIdx.y; i < Y.rows; i += gridDim.y) {
    float sum = 0;
    for (int a = 0; a < W.rows; ++a) {
      const int up = W.rows - 1 - a;
      for (int b = 0; b < W.cols; ++b) {
        const int from = j + b - (W.cols - 1) / 2;
        if (i >= up && from >= 0 && from < X.cols) sum += W(a, b) * X(i - up, from);
      }
    }
    Y(i, j) = sum;
  }
}

__global__ void conv2d_causal_backward_x_kernel(DeviceMat dY, DeviceMat W, DeviceMat dX) {
  const int j = my_column();
  if (j >= dX.cols) return;
  for (int i = blockIdx.y; i < dX.rows; i += gridDim.y) {
    float sum = 0;
    for (int a = 0; a < W.rows; ++a) {
      const int to = i + W.rows - 1 - a;
      for (int b = 0; b < W.cols; ++b) {
        const int right = j - b + (W.cols - 1) / 2;
        if (to < dY.rows && right >= 0 && right < dY.cols) sum += W(a, b) * dY(to, right);
      }
    }
    dX(i, j) += sum;
  }
}

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

void CudaBackend::conv2d_causal(Mat X, Mat W, Mat Y) {
  if (Y.rows == 0 || Y.cols == 0) return;
  launch(each_entry(Y.rows, Y.cols, stream), conv2d_causal_kernel, X, W, Y);
}

void CudaBackend::conv2d_causal_backward_x(Mat dY, Mat W, Mat dX) {
  if (dX.rows == 0 || dX.cols == 0) return;
  launch(each_entry(dX.rows, dX.cols, stream), conv2d_causal_backward_x_kernel, dY, W, dX);
}

void CudaBackend::conv2d_causal_backward_w(Mat X, Mat dY, Mat dW) {
  if (dW.rows == 0 || dW.cols == 0) return;
  const Launch shape{dim3(unsigned(dW.rows * dW.cols)), dim3(kThreads), 0, stream};
  launch(shape, conv2d_causal_backward_w_kernel, X, dY, dW);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
