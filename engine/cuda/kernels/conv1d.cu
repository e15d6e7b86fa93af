//   Y_tc = Σ_k Σ_a X_(t+k-left, a) W_(kA+a, c)      X: T x A    W: K A x C    outside X there are zeros
//
// A thread for each entry of the result, which sums in a fixed order: no atomics, the same bits every time.
#include "engine/cuda/cuda.h"
#include "engine/cuda/kernels/each_entry.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

__global__ void conv1d_kernel(DeviceMat X, DeviceMat W, int taps, int left, DeviceMat Y) {
  const int A = X.cols, c = my_column();
  if (c >= Y.cols) return;
  for (int t = blockIdx.y; t < Y.rows; t += gridDim.y) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= X.rows) continue;
      for (int a = 0; a < A; ++a) sum += X(from, a) * W(k * A + a, c);
    }
    Y(t, c) = sum;
  }
}

__global__ void conv1d_backward_x_kernel(DeviceMat dY, DeviceMat W, int taps, int left, DeviceMat dX) {
  const int A = dX.cols, a = my_column();
  if (a >= A) return;
  for (int from = blockIdx.y; from < dX.rows; from += gridDim.y) {
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
      const int t = from - k + left;
      if (t < 0 || t >= dY.rows) continue;
      for (int c = 0; c < dY.cols; ++c) sum += dY(t, c) * W(k * A + a, c);
    }
    dX(from, a) += sum;
  }
}

// Row r = k A + a of dW. The sum is over the whole sequence: in double.
__global__ void conv1d_backward_w_kernel(DeviceMat X, DeviceMat dY, int left, DeviceMat dW) {
  const int A = X.cols, c = my_column();
  if (c >= dW.cols) return;
  for (int r = blockIdx.y; r < dW.rows; r += gridDim.y) {
    const int k = r / A, a = r % A;
    double sum = 0;
    for (int t = 0; t < dY.rows; ++t) {
      const int from = t + k - left;
      if (from >= 0 && from < X.rows) sum += double(X(from, a)) * double(dY(t, c));
    }
    dW(r, c) += float(sum);
  }
}

}  // namespace

void CudaBackend::conv1d(Mat X, Mat W, int left, Mat Y) {
  if (Y.rows == 0 || Y.cols == 0) return;
  const int taps = X.cols ? W.rows / X.cols : 0;
  launch(each_entry(Y.rows, Y.cols, stream), conv1d_kernel, X, W, taps, left, Y);
}

void CudaBackend::conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) {
  if (dX.rows == 0 || dX.cols == 0) return;
  launch(each_entry(dX.rows, dX.cols, stream), conv1d_backward_x_kernel, dY, W, W.rows / dX.cols, left, dX);
}

void CudaBackend::conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) {
  if (dW.rows == 0 || dW.cols == 0) return;
  launch(each_entry(dW.rows, dW.cols, stream), conv1d_backward_w_kernel, X, dY, left, dW);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
