//   Y_tc = Σ_k Σ_a X_(t+k-left, a) W_(kA+a, c)      X: T x A    W: K A x C    outside X there are zeros
//
// A thread for each entry of the result, which sums in a fixed order: no atomics, the same bits every time.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Conv1d {  // Y_tc
  DeviceMat X, W;
  int taps, left;
  __device__ float operator()(int t, int c) const {
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= X.rows) continue;
      for (int a = 0; a < X.cols; ++a) sum += X(from, a) * W(k * X.cols + a, c);
    }
    return sum;
  }
};

struct Conv1dBackwardX {  // dX_ia + Σ_k Σ_c dY_(i-k+left, c) W_(kA+a, c)
  DeviceMat dY, W, dX;
  int taps, left;
  __device__ float operator()(int i, int a) const {
    float sum = 0;
    for (int k = 0; k < taps; ++k) {
      const int t = i - k + left;
      if (t < 0 || t >= dY.rows) continue;
      for (int c = 0; c < dY.cols; ++c) sum += dY(t, c) * W(k * dX.cols + a, c);
    }
    return dX(i, a) + sum;
  }
};

struct Conv1dBackwardW {  // row kA+a of dW. The sum is over the whole sequence: in double
  DeviceMat X, dY, dW;
  int left;
  __device__ float operator()(int row, int c) const {
    const int k = row / X.cols, a = row % X.cols;
    double sum = 0;
    for (int t = 0; t < dY.rows; ++t) {
      const int from = t + k - left;
      if (from >= 0 && from < X.rows) sum += double(X(from, a)) * double(dY(t, c));
    }
    return dW(row, c) + float(sum);
  }
};

}  // namespace

void CudaBackend::conv1d(Mat X, Mat W, int left, Mat Y) { each(Y, Conv1d{X, W, X.cols ? W.rows / X.cols : 0, left}, stream); }

void CudaBackend::conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) {
  each(dX, Conv1dBackwardX{dY, W, dX, dX.cols ? W.rows / dX.cols : 0, left}, stream);
}

void CudaBackend::conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) { each(dW, Conv1dBackwardW{X, dY, dW, left}, stream); }

}  // namespace GLASS_PRECISION
}  // namespace glass
