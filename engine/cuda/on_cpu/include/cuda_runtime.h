// cuda_on_cpu: a stand-in for NVIDIA's <cuda_runtime.h> that runs kernels on the CPU.
//
// Put this directory on the include path of a plain g++/clang++ build and compile the very same .cu
// files.  Every CUDA thread of a block becomes a fiber with its own stack (fibers.cpp); a fiber
// runs until it reaches __syncthreads() or a warp-wide operation, then the next one runs.
// One OS thread does everything, so a run is deterministic and a debugger stays easy to follow.
#pragma once
#include <math.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

// ---------------------------------------------------------------- qualifiers
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __constant__ static
#define __shared__ static  // one block runs at a time, so one copy is enough

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1  // clang says it this way, gcc the other
#endif
#endif

// ---------------------------------------------------------------- vector types
struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
#if defined(__SANITIZE_THREAD__)  // copy as one access, as the GPU does, not as four: watcher.cpp counts them
#define CUDA_VECTOR(type, bytes)                                           \
  type() = default;                                                        \
  type(const type& o) { *this = o; }                                       \
  type& operator=(const type& o) {                                         \
    typedef int whole __attribute__((vector_size(bytes), may_alias));      \
    *reinterpret_cast<whole*>(this) = *reinterpret_cast<const whole*>(&o); \
    return *this;                                                          \
  }
#else
#define CUDA_VECTOR(type, bytes)
#endif
struct alignas(8) float2 {
  float x, y;
  CUDA_VECTOR(float2, 8)
};
struct alignas(16) float4 {
  float x, y, z, w;
  CUDA_VECTOR(float4, 16)
};
struct alignas(8) int2 {
  int x, y;
  CUDA_VECTOR(int2, 8)
};
struct alignas(16) int4 {
  int x, y, z, w;
  CUDA_VECTOR(int4, 16)
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
  CUDA_VECTOR(uint4, 16)
};
inline float2 make_float2(float x, float y) {
  float2 v;
  v.x = x, v.y = y;
  return v;
}
inline float4 make_float4(float x, float y, float z, float w) {
  float4 v;
  v.x = x, v.y = y, v.z = z, v.w = w;
  return v;
}
inline int4 make_int4(int x, int y, int z, int w) {
  int4 v;
  v.x = x, v.y = y, v.z = z, v.w = w;
  return v;
}

// ---------------------------------------------------------------- built-in variables
inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;

// ---------------------------------------------------------------- the scheduler (fibers.cpp)
namespace cuda_on_cpu {
struct Where {  // a place in a kernel (std::source_location, but clang 14 lacks it)
  const char* file = "";
  int line = 0;
  static constexpr Where current(const char* f = __builtin_FILE(), int l = __builtin_LINE()) { return {f, l}; }
};
struct KernelError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Calls body(context) once for every thread of every block.
void run_grid(dim3 grid, dim3 block, std::size_t shared_bytes, void (*body)(void*), void* context);
void block_barrier(Where where);  // waits for all threads of the block
/// Meets the lanes of `mask`, then copies `bytes` bytes that lane `source` brought to `out`.
/// Returns the mask of participating lanes whose predicate was true.
unsigned warp_meet(unsigned mask, bool predicate, const void* in, void* out, unsigned bytes, int source, Where where);
int block_count(bool predicate, Where where);  // how many threads of the block had a true predicate
void* dynamic_shared_memory();
int lane();
[[noreturn]] void fail(std::string why);                // ends the launch with a KernelError
void note_atomic(const void* address, unsigned bytes);  // tells watcher.cpp, if it is linked in
void async_copy(void* to, const void* from, std::size_t bytes, std::size_t zeros);  // for <cuda_pipeline.h>
void async_commit();
void async_wait(std::size_t batches_left);
float* warp_scratch();  // 512 floats of the warp's own, for <mma.h>

template <class T>
T shuffle(unsigned mask, T value, int source, Where where) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8, "shuffles move 1 to 8 bytes");
  T result;
  warp_meet(mask, false, &value, &result, sizeof(T), source, where);
  return result;
}
}  // namespace cuda_on_cpu

// ---------------------------------------------------------------- synchronisation
using CudaWhere = cuda_on_cpu::Where;
inline void __syncthreads(CudaWhere w = CudaWhere::current()) { cuda_on_cpu::block_barrier(w); }
inline int __syncthreads_count(int p, CudaWhere w = CudaWhere::current()) { return cuda_on_cpu::block_count(p, w); }
inline int __syncthreads_or(int p, CudaWhere w = CudaWhere::current()) { return cuda_on_cpu::block_count(p, w) > 0; }
inline int __syncthreads_and(int p, CudaWhere w = CudaWhere::current()) { return cuda_on_cpu::block_count(!p, w) == 0; }
inline void __syncwarp(unsigned mask = ~0u, CudaWhere w = CudaWhere::current()) {
  cuda_on_cpu::warp_meet(mask, false, nullptr, nullptr, 0, -1, w);
}
inline void __threadfence() {}
inline void __threadfence_block() {}

// ---------------------------------------------------------------- warp operations
inline unsigned __ballot_sync(unsigned mask, int p, CudaWhere w = CudaWhere::current()) {
  return cuda_on_cpu::warp_meet(mask, p != 0, nullptr, nullptr, 0, -2, w);
}
inline int __any_sync(unsigned mask, int p, CudaWhere w = CudaWhere::current()) {
  return __ballot_sync(mask, p, w) != 0;
}
inline int __all_sync(unsigned mask, int p, CudaWhere w = CudaWhere::current()) {
  return __ballot_sync(mask, !p, w) == 0;
}
template <class T>
T __shfl_sync(unsigned mask, T v, int source, int width = 32, CudaWhere w = CudaWhere::current()) {
  const int first = cuda_on_cpu::lane() & ~(width - 1);
  return cuda_on_cpu::shuffle(mask, v, first + (source & (width - 1)), w);
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, CudaWhere w = CudaWhere::current()) {
  const int me = cuda_on_cpu::lane(), s = me - int(delta);
  return cuda_on_cpu::shuffle(mask, v, s < (me & ~(width - 1)) ? me : s, w);
}
template <class T>
T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, CudaWhere w = CudaWhere::current()) {
  const int me = cuda_on_cpu::lane(), s = me + int(delta);
  return cuda_on_cpu::shuffle(mask, v, s > (me | (width - 1)) ? me : s, w);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int bits, int width = 32, CudaWhere w = CudaWhere::current()) {
  const int me = cuda_on_cpu::lane(), s = me ^ bits;
  return cuda_on_cpu::shuffle(mask, v, s > (me | (width - 1)) ? me : s, w);
}

// ---------------------------------------------------------------- atomics (fibers never run at once)
#if defined(__SANITIZE_THREAD__)  // keep watcher.cpp from mistaking these for plain reads and writes
#define CUDA_ATOMIC __attribute__((no_sanitize("thread"), noinline))
#else
#define CUDA_ATOMIC inline
#endif
template <class T, class F>
CUDA_ATOMIC T cuda_atomic(T* p, F update) {
  cuda_on_cpu::note_atomic(p, sizeof(T));
  const T old = *p;
  *p = update(old);
  return old;
}
template <class T>
T atomicAdd(T* p, std::type_identity_t<T> v) {
  return cuda_atomic(p, [v](T o) { return T(o + v); });
}
template <class T>
T atomicMax(T* p, std::type_identity_t<T> v) {
  return cuda_atomic(p, [v](T o) { return std::max(o, v); });
}
template <class T>
T atomicMin(T* p, std::type_identity_t<T> v) {
  return cuda_atomic(p, [v](T o) { return std::min(o, v); });
}
template <class T>
T atomicExch(T* p, std::type_identity_t<T> v) {
  return cuda_atomic(p, [v](T) { return v; });
}
template <class T>
T atomicCAS(T* p, std::type_identity_t<T> is, std::type_identity_t<T> v) {
  return cuda_atomic(p, [=](T o) { return o == is ? v : o; });
}

// ---------------------------------------------------------------- arithmetic
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __int_as_float(int i) { return std::bit_cast<float>(i); }
inline int __float_as_int(float f) { return std::bit_cast<int>(f); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __ffs(int x) { return x ? std::countr_zero(unsigned(x)) + 1 : 0; }
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class A, class B>
auto min(A a, B b) {
  return b < a ? b : a;
}
template <class A, class B>
auto max(A a, B b) {
  return a < b ? b : a;
}

// ---------------------------------------------------------------- the part of the runtime API we use
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = double*;  // the time of the last record, in milliseconds
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaMalloc(void** p, std::size_t bytes);
cudaError_t cudaFree(void* p);
template <class T>
cudaError_t cudaMalloc(T** p, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(p), bytes);
}
template <class T>
cudaError_t cudaMallocAsync(T** p, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(p, bytes);
}
inline cudaError_t cudaFreeAsync(void* p, cudaStream_t) { return cudaFree(p); }
cudaError_t cudaMallocManaged(void** p, std::size_t bytes);  // the host may read and write it, too
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                              std::size_t height, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t = nullptr);
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return cudaMemcpyAsync(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) { return cudaMemsetAsync(to, value, bytes); }
inline cudaError_t cudaStreamCreate(cudaStream_t* s) { return *s = nullptr, cudaSuccess; }
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* n) { return *n = 1, cudaSuccess; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t a, cudaEvent_t b) {
  return *ms = float(*b - *a), cudaSuccess;
}

// ---------------------------------------------------------------- launching
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};
inline std::map<const void*, std::size_t> cuda_shared_limit;  // kernels allowed more than 48 KB
template <class F>
cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute, int bytes) {
  if (bytes > 227 * 1024) return cudaErrorInvalidValue;
  return cuda_shared_limit[reinterpret_cast<const void*>(kernel)] = bytes, cudaSuccess;
}
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* c, void (*kernel)(Parameters...), Arguments&&... arguments) {
  const std::size_t threads = std::size_t(c->blockDim.x) * c->blockDim.y * c->blockDim.z;
  const std::size_t blocks = std::size_t(c->gridDim.x) * c->gridDim.y * c->gridDim.z;
  if (threads == 0 || threads > 1024 || blocks == 0 || c->gridDim.y > 65535 || c->gridDim.z > 65535)
    return cudaErrorInvalidConfiguration;
  const auto limit = cuda_shared_limit.find(reinterpret_cast<const void*>(kernel));
  if (c->dynamicSmemBytes > (limit == cuda_shared_limit.end() ? 48 * 1024 : limit->second))
    return cudaErrorInvalidValue;
  auto call = [&] { kernel(static_cast<Parameters>(arguments)...); };
  cuda_on_cpu::run_grid(
      c->gridDim, c->blockDim, c->dynamicSmemBytes, [](void* f) { (*static_cast<decltype(call)*>(f))(); }, &call);
  return cudaSuccess;
}
