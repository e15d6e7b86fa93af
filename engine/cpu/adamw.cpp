#include <cmath>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CpuBackend::adamw(Mat gradient, const AdamWStep& step, Mat m, Mat v, Mat w) {
  for (int i = 0; i < w.rows; ++i) {
    for (int j = 0; j < w.cols; ++j) {
      const double g = gradient(i, j);
      m(i, j) = Real(step.beta1 * m(i, j) + (1 - step.beta1) * g);
      v(i, j) = Real(step.beta2 * v(i, j) + (1 - step.beta2) * g * g);
      const double m_hat = m(i, j) / step.correct1, v_hat = v(i, j) / step.correct2;
      w(i, j) = Real(w(i, j) * step.keep - step.rate * m_hat / (std::sqrt(v_hat) + step.eps));
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
