// cuda_backend() of a program that has the kernels: linked as an object, it stands before engine/cuda/none.cpp.
#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

const char* cuda_problem() {  // "no CUDA-capable device is detected", "CUDA driver version is insufficient ..."
  int devices = 0;
  const cudaError_t e = cudaGetDeviceCount(&devices);
  return e != cudaSuccess ? cudaGetErrorString(e) : devices == 0 ? "there is no CUDA device" : "";
}

Backend* cuda_backend() {
  if (*cuda_problem()) return nullptr;
  static CudaBackend* const be =
      new CudaBackend;  // never deleted: the driver may be gone before the last static object
  return be;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
