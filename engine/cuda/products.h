// Who multiplies matrices: our own kernels (kernels/matmul.cu), or a library.
//   GLASS_CUDA_PRODUCTS=own           the default
//   GLASS_CUDA_PRODUCTS=cublas        cuBLAS in float, with CUBLAS_PEDANTIC_MATH: no TF32, nothing rounded on the way
//   GLASS_CUDA_PRODUCTS=cublas-tf32   cuBLAS on tensor cores: operands rounded to 11 bits. Only on request
#pragma once

#include <cuda_runtime.h>

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

enum class Products { own, cublas, cublas_tf32 };

Products products();  // what the environment says, read once; throws CudaError for a value that is none of the three

// c = (or +=) op(a) op(b). gpu/gemm_cublas.cpp; on_cpu/gemm_absent.cpp throws CudaError: there is no cuBLAS.
void library_matmul(Product, Mat a, Mat b, Mat c, bool accumulate, bool tf32, cudaStream_t);

}  // namespace GLASS_PRECISION
}  // namespace glass
