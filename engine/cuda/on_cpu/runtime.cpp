// The part of the CUDA runtime that glassgrad uses, on the CPU: streams run everything at once, in order.
#include <chrono>
#include <cstdlib>

#include "state.h"

using cuda_on_cpu::observer;

const char* cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess                     ? "no error"
         : e == cudaErrorMemoryAllocation     ? "out of memory"
         : e == cudaErrorInvalidConfiguration ? "invalid configuration argument"
                                              : "invalid argument";
}
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  if (posix_memalign(p, 256, std::max<std::size_t>(bytes, 1))) return cudaErrorMemoryAllocation;  // aligned as on a GPU
  std::memset(*p, 0xFF, bytes);  // NaN: fresh device memory is undefined
  if (observer.allocated) observer.allocated(*p, bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* p) {
  if (observer.freed) observer.freed(p);
  std::free(p);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return *e = new double(0), cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) {
  *e = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return cudaSuccess;
}
