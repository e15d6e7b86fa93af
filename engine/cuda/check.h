// Every call of the CUDA runtime goes through check(): plain C++, for every part of the backend.
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace glass {

struct CudaError : std::runtime_error {
  using runtime_error::runtime_error;
};

// Throws CudaError "FILE:LINE: CUDA: why". The place is the caller's.
inline void check(cudaError_t e, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (e != cudaSuccess) throw CudaError(file + (":" + std::to_string(line)) + ": CUDA: " + cudaGetErrorString(e));
}

}  // namespace glass
