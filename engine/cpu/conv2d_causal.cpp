#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Y_ij = Σ_ab W_ab X_(i-A+1+a, j-(B-1)/2+b)      X, Y: R x C    W: A x B    outside X there are zeros
//
// Each walk below visits the same quadruples (a, b, i, j); only what is added where differs.

void CpuBackend::conv2d_causal(Mat X, Mat W, Mat Y) {
  fill(Y, 0);
  for (int a = 0; a < W.rows; ++a) {
    for (int b = 0; b < W.cols; ++b) {
      const int up = W.rows - 1 - a, right = b - (W.cols - 1) / 2;
      for (int i = up; i < Y.rows; ++i)
        for (int j = 0; j < Y.cols; ++j)
          if (j + right >= 0 && j + right < X.cols) Y(i, j) += W(a, b) * X(i - up, j + right);
    }
  }
}

void CpuBackend::conv2d_causal_backward_x(Mat dY, Mat W, Mat dX) {
  for (int a = 0; a < W.rows; ++a) {
    for (int b = 0; b < W.cols; ++b) {
      const int up = W.rows - 1 - a, right = b - (W.cols - 1) / 2;
      for (int i = up; i < dY.rows; ++i)
        for (int j = 0; j < dY.cols; ++j)
          if (j + right >= 0 && j + right < dX.cols) dX(i - up, j + right) += W(a, b) * dY(i, j);
    }
  }
}

void CpuBackend::conv2d_causal_backward_w(Mat X, Mat dY, Mat dW) {
  for (int a = 0; a < dW.rows; ++a) {
    for (int b = 0; b < dW.cols; ++b) {
      const int up = dW.rows - 1 - a, right = b - (dW.cols - 1) / 2;
      double sum = 0;
      for (int i = up; i < dY.rows; ++i)
        for (int j = 0; j < dY.cols; ++j)
          if (j + right >= 0 && j + right < X.cols) sum += double(dY(i, j)) * double(X(i - up, j + right));
      dW(a, b) += Real(sum);
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
