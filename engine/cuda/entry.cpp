// cuda_backend() of a program that has the kernels: linked as an object, it stands before engine/cuda/none.cpp.
#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

Backend* cuda_backend() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return nullptr;
  static CudaBackend* const be =
      new CudaBackend;  // never deleted: the driver may be gone before the last static object
  return be;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
