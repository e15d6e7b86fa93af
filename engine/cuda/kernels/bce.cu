// Binary cross-entropy from logits: y = t softplus(-x) + (1-t) softplus(x), see each.cuh. A part that counts 0 is left
// out, even if it is infinite.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Bce {
  DeviceMat x, t;
  __device__ float operator()(int i, int j) const {
    const float yes = t(i, j), no = 1 - yes;
    return (yes != 0 ? yes * value(Function::softplus, -x(i, j)) : 0) +
           (no != 0 ? no * value(Function::softplus, x(i, j)) : 0);
  }
};
struct BceBackward {
  DeviceMat x, t, dy, dx;
  __device__ float operator()(int i, int j) const {
    return dx(i, j) + dy(i, j) * ((1 - t(i, j)) * sigmoid_of(x(i, j)) - t(i, j) * sigmoid_of(-x(i, j)));
  }
};

}  // namespace

void CudaBackend::bce_logits(Mat x, Mat t, Mat y) { each(y, Bce{x, t}, stream); }
void CudaBackend::bce_logits_backward(Mat x, Mat t, Mat dy, Mat dx) { each(dx, BceBackward{x, t, dy, dx}, stream); }

}  // namespace GLASS_PRECISION
}  // namespace glass
