// Kernels that are still to be written: each throws.
#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CudaBackend::flash_attention(Mat, Mat, Mat, Real, const Tiling&, Mat, Mat, Mat, Mat, Mat) {
  throw CudaError("flash_attention is not there yet");
}
void CudaBackend::flash_attention_backward(Mat, Mat, Mat, Real, const Tiling&, Mat, Mat, Mat, Mat, Mat, Mat, Mat, Mat,
                                           Mat) {
  throw CudaError("flash_attention_backward is not there yet");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
