// For a program that is to run on CUDA as a whole (a lesson with --device cuda): every tape, parameter and matrix that names no
// home has its numbers in memory that device and host both see, and every kernel is waited for. Linked as an object.
#include <cstdlib>

#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

static bool choose() {
  setenv("CUDA_LAUNCH_BLOCKING", "1", 1);  // read by the driver when it starts
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return false;  // the page says why (cuda_problem)
  static CudaBackend* const be = new CudaBackend(true);  // never deleted: the driver may be gone before the last static object
  choose_cpu(*be);
  return true;
}
static const bool chosen = choose();

}  // namespace GLASS_PRECISION
}  // namespace glass
