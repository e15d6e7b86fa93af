//   Y_tc = Σ_k X_(t+k-left),c W_kc      X: T x C    W: K x C    outside X there are zeros
//
// A thread for each entry of the result.
#include "engine/cuda/cuda.h"
#include "engine/cuda/kernels/each_entry.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

__global__ void depthwise_kernel(DeviceMat X, DeviceMat W, int left, DeviceMat Y) {
  const int c = my_column();
  if (c >= Y.cols) return;
  for (int t = blockIdx.y; t < Y.rows; t += gridDim.y) {
    float sum = 0;
    for (int k = 0; k < W.rows; ++k) {
      const int from = t + k - left;
      if (from >= 0 && from < X.rows) sum += X(from, c) * W(k, c);
    }
    Y(t, c) = sum;
  }
}

__global__ void depthwise_backward_x_kernel(DeviceMat dY, DeviceMat W, int left, DeviceMat dX) {
  const int c = my_column();
  if (c >= dX.cols) return;
  for (int from = blockIdx.y; from < dX.rows; from += gridDim.y) {
    float sum = 0;
    for (int k = 0; k < W.rows; ++k) {
      const int t = from - k + left;
      if (t >= 0 && t < dY.rows) sum += dY(t, c) * W(k, c);
    }
    dX(from, c) += sum;
  }
}

__global__ void depthwise_backward_w_kernel(DeviceMat X, DeviceMat dY, int left, DeviceMat dW) {
  const int c = my_column();
  if (c >= dW.cols) return;
  for (int k = blockIdx.y; k < dW.rows; k += gridDim.y) {
    double sum = 0;
    for (int t = 0; t < dY.rows; ++t) {
      const int from = t + k - left;
      if (from >= 0 && from < X.rows) sum += double(X(from, c)) * double(dY(t, c));
    }
    dW(k, c) += float(sum);
  }
}

}  // namespace

void CudaBackend::depthwise_conv1d(Mat X, Mat W, int left, Mat Y) {
  if (Y.rows == 0 || Y.cols == 0) return;
  launch(each_entry(Y.rows, Y.cols, stream), depthwise_kernel, X, W, left, Y);
}

void CudaBackend::depthwise_conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) {
  if (dX.rows == 0 || dX.cols == 0) return;
  launch(each_entry(dX.rows, dX.cols, stream), depthwise_backward_x_kernel, dY, W, left, dX);
}

void CudaBackend::depthwise_conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) {
  if (dW.rows == 0 || dW.cols == 0) return;
  launch(each_entry(dW.rows, dW.cols, stream), depthwise_backward_w_kernel, X, dY, left, dW);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
