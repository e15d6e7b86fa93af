// What a launch that the device refuses is told as.
#include "engine/cuda/launch.cuh"

namespace glass {

static std::string sizes(dim3 d) {
  return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
}

void launch_failed(const Launch& s, cudaError_t e) {
  cudaGetLastError();  // or the next check would report it once more
  throw CudaError(s.file + (":" + std::to_string(s.line)) + ": CUDA: launch of " + sizes(s.grid) + " blocks of " +
                  sizes(s.block) + " threads, " + std::to_string(s.shared_bytes) +
                  " bytes of shared memory: " + cudaGetErrorString(e));
}

}  // namespace glass
