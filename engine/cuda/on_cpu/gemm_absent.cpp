// Where the kernels run on the CPU there is no cuBLAS.
#include "engine/cuda/check.h"
#include "engine/cuda/products.h"

namespace glass {
inline namespace GLASS_PRECISION {

void library_matmul(Product, Mat, Mat, Mat, bool, bool, cudaStream_t) {
  throw CudaError("GLASS_CUDA_PRODUCTS: this build has no cuBLAS (its kernels run on the CPU); leave it out, or say own");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
