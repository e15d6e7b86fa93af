// One update of AdamW, each weight by itself, in double inside: a float would lose the small step beside a large
// weight.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct AdamW {
  AdamWStep step;
  DeviceMat gradient, m, v, w;
  __device__ float operator()(int i, int j) const {
    const double g = gradient(i, j);
    const float mean = float(step.beta1 * m(i, j) + (1 - step.beta1) * g);
    const float square = float(step.beta2 * v(i, j) + (1 - step.beta2) * g * g);
    m(i, j) = mean;
    v(i, j) = square;
    const double m_hat = mean / step.correct1, v_hat = square / step.correct2;
    return float(w(i, j) * step.keep - step.rate * m_hat / (sqrt(v_hat) + step.eps));
  }
};

}  // namespace

void CudaBackend::adamw(Mat gradient, const AdamWStep& step, Mat m, Mat v, Mat w) {
  each(w, AdamW{step, gradient, m, v, w}, stream);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
