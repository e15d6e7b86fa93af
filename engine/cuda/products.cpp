#include "engine/cuda/products.h"

#include <cstdlib>

#include "engine/cuda/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Products chosen() {
  const char* setting = std::getenv("GLASS_CUDA_PRODUCTS");
  const std::string name = setting ? setting : "own";
  if (name == "own") return Products::own;
  if (name == "cublas") return Products::cublas;
  if (name == "cublas-tf32") return Products::cublas_tf32;
  throw CudaError("GLASS_CUDA_PRODUCTS=" + name + ": must be own, cublas or cublas-tf32");
}

Products products() {
  static const Products choice = chosen();
  return choice;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
