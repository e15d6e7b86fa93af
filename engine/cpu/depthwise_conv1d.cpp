#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Y_tc = Σ_k X_(t+k-left),c W_kc      X: T x C    W: K x C    outside X there are zeros
//
// Each walk below visits the same triples (t, k, c); only what is added where differs.

void CpuBackend::depthwise_conv1d(Mat X, Mat W, int left, Mat Y) {
  fill(Y, 0);
  for (int t = 0; t < Y.rows; ++t) {
    for (int k = 0; k < W.rows; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= X.rows) continue;
      for (int c = 0; c < Y.cols; ++c) Y(t, c) += X(from, c) * W(k, c);
    }
  }
}

void CpuBackend::depthwise_conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) {
  for (int t = 0; t < dY.rows; ++t) {
    for (int k = 0; k < W.rows; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= dX.rows) continue;
      for (int c = 0; c < dY.cols; ++c) dX(from, c) += dY(t, c) * W(k, c);
    }
  }
}

void CpuBackend::depthwise_conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) {
  for (int t = 0; t < dY.rows; ++t) {
    for (int k = 0; k < dW.rows; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= X.rows) continue;
      for (int c = 0; c < dY.cols; ++c) dW(k, c) += X(from, c) * dY(t, c);
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
