#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Y_tc = Σ_k Σ_a X_(t+k-left, a) W_(kA+a, c)      X: T x A    W: K A x C    outside X there are zeros
//
// Each walk below visits the same triples (t, k, a, c); only what is added where differs.

void CpuBackend::conv1d(Mat X, Mat W, int left, Mat Y) {
  const int A = X.cols, K = A ? W.rows / A : 0;
  fill(Y, 0);
  for (int t = 0; t < Y.rows; ++t) {
    for (int k = 0; k < K; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= X.rows) continue;
      for (int a = 0; a < A; ++a)
        for (int c = 0; c < Y.cols; ++c) Y(t, c) += X(from, a) * W(k * A + a, c);
    }
  }
}

void CpuBackend::conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) {
  const int A = dX.cols, K = A ? W.rows / A : 0;
  for (int t = 0; t < dY.rows; ++t) {
    for (int k = 0; k < K; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= dX.rows) continue;
      for (int a = 0; a < A; ++a)
        for (int c = 0; c < dY.cols; ++c) dX(from, a) += dY(t, c) * W(k * A + a, c);
    }
  }
}

void CpuBackend::conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) {
  const int A = X.cols, K = A ? dW.rows / A : 0;
  for (int t = 0; t < dY.rows; ++t) {
    for (int k = 0; k < K; ++k) {
      const int from = t + k - left;
      if (from < 0 || from >= X.rows) continue;
      for (int a = 0; a < A; ++a)
        for (int c = 0; c < dY.cols; ++c) dW(k * A + a, c) += X(from, a) * dY(t, c);
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
