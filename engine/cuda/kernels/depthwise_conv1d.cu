//   Y_tc = Σ_k X_(t+k-left),c W_kc      X: T x C    W: K x C    outside X there are zeros
//
// A thread for each entry of the result.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Depthwise {  // Y_tc
  DeviceMat X, W;
  int left;
  __device__ float operator()(int t, int c) const {
    float sum = 0;
    for (int k = 0; k < W.rows; ++k) {
      const int from = t + k - left;
      if (from >= 0 && from < X.rows) sum += X(from, c) * W(k, c);
    }
    return sum;
  }
};

struct DepthwiseBackwardX {  // dX_ic + Σ_k dY_(i-k+left),c W_kc
  DeviceMat dY, W, dX;
  int left;
  __device__ float operator()(int i, int c) const {
    float sum = 0;
    for (int k = 0; k < W.rows; ++k) {
      const int t = i - k + left;
      if (t >= 0 && t < dY.rows) sum += dY(t, c) * W(k, c);
    }
    return dX(i, c) + sum;
  }
};

struct DepthwiseBackwardW {  // the sum is over the whole sequence: in double
  DeviceMat X, dY, dW;
  int left;
  __device__ float operator()(int k, int c) const {
    double sum = 0;
    for (int t = 0; t < dY.rows; ++t) {
      const int from = t + k - left;
      if (from >= 0 && from < X.rows) sum += double(X(from, c)) * double(dY(t, c));
    }
    return dW(k, c) + float(sum);
  }
};

}  // namespace

void CudaBackend::depthwise_conv1d(Mat X, Mat W, int left, Mat Y) { each(Y, Depthwise{X, W, left}, stream); }
void CudaBackend::depthwise_conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) { each(dX, DepthwiseBackwardX{dY, W, dX, left}, stream); }
void CudaBackend::depthwise_conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) { each(dW, DepthwiseBackwardW{X, dY, dW, left}, stream); }

}  // namespace GLASS_PRECISION
}  // namespace glass
