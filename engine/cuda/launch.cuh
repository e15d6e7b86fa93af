// How every kernel is launched: the same source for nvcc and for the CPU (on_cpu/).
#pragma once

#include "engine/cuda/check.h"

namespace glass {

struct Launch {  // the shape of a launch: blocks, threads of a block, bytes of dynamic shared memory
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

// launch({grid, block, bytes, stream}, kernel, arguments...). cudaLaunchKernelEx is an ordinary template: no <<<>>> is
// needed.
template <class... P, class... A>
void launch(const Launch& s, void (*kernel)(P...), A&&... arguments) {
  constexpr std::size_t kUnasked = 48 * 1024;  // more than this a kernel gets only on request
  if (s.shared_bytes > kUnasked) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(s.shared_bytes)));
  }
  cudaLaunchConfig_t config{};
  config.gridDim = s.grid;
  config.blockDim = s.block;
  config.dynamicSmemBytes = s.shared_bytes;
  config.stream = s.stream;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<P>(arguments)...));
}

// The block's dynamic shared memory. It cannot be spelt the same way for both compilers: the only #ifdef of the
// kernels.
template <class T>
__device__ T* dynamic_shared() {
#ifdef __CUDACC__
  extern __shared__ __align__(1024) unsigned char dynamic_shared_bytes[];
  return reinterpret_cast<T*>(dynamic_shared_bytes);
#else
  return static_cast<T*>(cuda_on_cpu::dynamic_shared_memory());
#endif
}

__host__ __device__ constexpr int ceil_div(int a, int b) { return a / b + (a % b != 0); }

constexpr unsigned kAllLanes = 0xffffffffu;

// Sum and maximum over a warp, for every lane of it.
template <class T>
__device__ inline T warp_sum(T v) {
  for (int bits = 16; bits > 0; bits /= 2) v += __shfl_xor_sync(kAllLanes, v, bits);
  return v;
}
__device__ inline float warp_max(float v) {
  for (int bits = 16; bits > 0; bits /= 2) v = fmaxf(v, __shfl_xor_sync(kAllLanes, v, bits));
  return v;
}

}  // namespace glass
