// The part of the CUDA runtime that glassgrad uses, on the CPU: streams run everything at once, in order.
#include <chrono>
#include <cstdlib>
#include <set>

#include "device_memory.h"
#include "state.h"

using cuda_on_cpu::observer;

static std::set<void*>& managed() {  // made when first asked for: another file's static object may ask before this file's are made
  static auto& all = *new std::set<void*>;
  return all;
}

const char* cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess                     ? "no error"
         : e == cudaErrorMemoryAllocation     ? "out of memory"
         : e == cudaErrorInvalidConfiguration ? "invalid configuration argument"
                                              : "invalid argument";
}
cudaError_t cudaMalloc(void** p, std::size_t bytes) {
  *p = cuda_on_cpu::device_alloc(bytes);
  if (!*p) return cudaErrorMemoryAllocation;
  if (observer.allocated) observer.allocated(*p, bytes);
  return cudaSuccess;
}
cudaError_t cudaMallocManaged(void** p, std::size_t bytes) {
  if (posix_memalign(p, 256, std::max<std::size_t>(bytes, 1))) return cudaErrorMemoryAllocation;
  managed().insert(*p);
  if (observer.allocated) observer.allocated(*p, bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* p) {
  if (observer.freed) observer.freed(p);
  managed().erase(p) ? std::free(p) : cuda_on_cpu::device_free(p);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  const cuda_on_cpu::DeviceIsOpen open;
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t) {
  const cuda_on_cpu::DeviceIsOpen open;
  for (std::size_t i = 0; i < height; ++i) {
    std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width);
  }
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  const cuda_on_cpu::DeviceIsOpen open;
  std::memset(to, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* e) { return *e = new double(0), cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t e) { return delete e, cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) {
  *e = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
  return cudaSuccess;
}
