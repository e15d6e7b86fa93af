// Kernels that are still to be written: each throws.
#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CudaBackend::conv1d(Mat, Mat, int, Mat) { throw CudaError("conv1d is not there yet"); }
void CudaBackend::conv1d_backward_x(Mat, Mat, int, Mat) { throw CudaError("conv1d_backward_x is not there yet"); }
void CudaBackend::conv1d_backward_w(Mat, Mat, int, Mat) { throw CudaError("conv1d_backward_w is not there yet"); }
void CudaBackend::depthwise_conv1d(Mat, Mat, int, Mat) { throw CudaError("depthwise_conv1d is not there yet"); }
void CudaBackend::depthwise_conv1d_backward_x(Mat, Mat, int, Mat) {
  throw CudaError("depthwise_conv1d_backward_x is not there yet");
}
void CudaBackend::depthwise_conv1d_backward_w(Mat, Mat, int, Mat) {
  throw CudaError("depthwise_conv1d_backward_w is not there yet");
}
void CudaBackend::causal_sums(Mat, Mat, Mat, int, Mat) { throw CudaError("causal_sums is not there yet"); }
void CudaBackend::causal_sums_backward(Mat, Mat, Mat, int, Mat, Mat, Mat, Mat) {
  throw CudaError("causal_sums_backward is not there yet");
}
void CudaBackend::conv2d_causal(Mat, Mat, Mat) { throw CudaError("conv2d_causal is not there yet"); }
void CudaBackend::conv2d_causal_backward_x(Mat, Mat, Mat) {
  throw CudaError("conv2d_causal_backward_x is not there yet");
}
void CudaBackend::conv2d_causal_backward_w(Mat, Mat, Mat) {
  throw CudaError("conv2d_causal_backward_w is not there yet");
}
void CudaBackend::flash_attention(Mat, Mat, Mat, Real, const Tiling&, Mat, Mat, Mat, Mat, Mat) {
  throw CudaError("flash_attention is not there yet");
}
void CudaBackend::flash_attention_backward(Mat, Mat, Mat, Real, const Tiling&, Mat, Mat, Mat, Mat, Mat, Mat, Mat, Mat,
                                           Mat, const bool*) {
  throw CudaError("flash_attention_backward is not there yet");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
