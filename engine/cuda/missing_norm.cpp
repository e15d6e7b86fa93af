// Kernels that are still to be written: each throws.
#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CudaBackend::matmul(Product, Mat, Mat, Mat, bool) { throw CudaError("matmul is not there yet"); }
void CudaBackend::matmul_add_row(Mat, Mat, Mat, Mat) { throw CudaError("matmul_add_row is not there yet"); }
void CudaBackend::layer_norm(Mat, Mat, Mat, double, Mat, Mat) { throw CudaError("layer_norm is not there yet"); }
void CudaBackend::layer_norm_backward(Mat, Mat, Mat, Mat, Mat, Mat, Mat) {
  throw CudaError("layer_norm_backward is not there yet");
}
void CudaBackend::rms_norm(Mat, Mat, double, Mat, Mat) { throw CudaError("rms_norm is not there yet"); }
void CudaBackend::rms_norm_backward(Mat, Mat, Mat, Mat, Mat, Mat) {
  throw CudaError("rms_norm_backward is not there yet");
}
void CudaBackend::cross_entropy(Mat, Ints, int, double, Mat, Mat) { throw CudaError("cross_entropy is not there yet"); }
void CudaBackend::cross_entropy_backward(Mat, Ints, int, double, Mat, Mat) {
  throw CudaError("cross_entropy_backward is not there yet");
}
void CudaBackend::kl(Mat, Mat, Mat) { throw CudaError("kl is not there yet"); }
void CudaBackend::kl_backward(Mat, Mat, Mat) { throw CudaError("kl_backward is not there yet"); }
void CudaBackend::log_sum_exp(Mat, Mat) { throw CudaError("log_sum_exp is not there yet"); }
void CudaBackend::log_sum_exp_backward(Mat, Mat, Mat) { throw CudaError("log_sum_exp_backward is not there yet"); }
void CudaBackend::log_softmax_rows(Mat, Mat) { throw CudaError("log_softmax_rows is not there yet"); }
void CudaBackend::log_softmax_rows_backward(Mat, Mat, Mat) {
  throw CudaError("log_softmax_rows_backward is not there yet");
}
void CudaBackend::softmax_rows(Mat, Mat) { throw CudaError("softmax_rows is not there yet"); }
void CudaBackend::softmax_rows_backward(Mat, Mat, Mat) { throw CudaError("softmax_rows_backward is not there yet"); }
void CudaBackend::sparsemax_rows(Mat, bool, Mat, Mat) { throw CudaError("sparsemax_rows is not there yet"); }
void CudaBackend::entmax15_rows(Mat, bool, Mat, Mat) { throw CudaError("entmax15_rows is not there yet"); }
void CudaBackend::weighted_mean_backward(Mat, Mat, Mat) { throw CudaError("weighted_mean_backward is not there yet"); }

}  // namespace GLASS_PRECISION
}  // namespace glass
