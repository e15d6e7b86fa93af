// Products by cuBLAS. It takes matrices column by column, ours lie row by row: what it sees of C is Cᵀ, and
//
//   C = op(A) op(B)   is   Cᵀ = op(B)ᵀ op(A)ᵀ
//
// so the operands change places and nothing is copied.
#include <cublas_v2.h>

#include "engine/cuda/check.h"
#include "engine/cuda/products.h"

namespace glass {
inline namespace GLASS_PRECISION {

static void check_cublas(cublasStatus_t s, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (s != CUBLAS_STATUS_SUCCESS) {
    throw CudaError(file + (":" + std::to_string(line)) + ": cuBLAS: " + cublasGetStatusString(s));
  }
}

static cublasHandle_t handle() {
  static const cublasHandle_t h = [] {
    cublasHandle_t made = nullptr;
    check_cublas(cublasCreate(&made));
    return made;
  }();
  return h;
}

void library_matmul(Product form, Mat a, Mat b, Mat c, bool accumulate, bool tf32, cudaStream_t stream) {
  if (c.rows == 0 || c.cols == 0) return;
  const int depth = form == Product::TN ? a.rows : a.cols;
  if (depth == 0) {
    if (accumulate) return;
    check(cudaMemset2DAsync(c.data, std::size_t(c.ld) * sizeof(float), 0, std::size_t(c.cols) * sizeof(float),
                            std::size_t(c.rows), stream));
    return;
  }
  const float one = 1, kept = accumulate ? 1.0f : 0.0f;  // with 0, what is in C is not read
  check_cublas(cublasSetStream(handle(), stream));
  check_cublas(cublasSetMathMode(handle(), tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_PEDANTIC_MATH));
  check_cublas(cublasSgemm(handle(), form == Product::NT ? CUBLAS_OP_T : CUBLAS_OP_N,
                    form == Product::TN ? CUBLAS_OP_T : CUBLAS_OP_N, c.cols, c.rows, depth, &one, b.data, b.ld, a.data,
                    a.ld, &kept, c.data, c.ld));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
