// A stream, and memory of the device for it. The same source on a GPU and on the CPU.
//
// The pool keeps what is given back for the next request of the same size: a training step asks for the same sizes
// again and again, and cudaMalloc waits for the whole device. One pool serves one stream, so memory that is handed out
// again is used after whatever still runs on it. (cudaMallocAsync with a raised threshold does the same inside the
// driver.)
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <map>
#include <vector>

namespace glass {
inline namespace GLASS_PRECISION {

class Stream {
 public:
  Stream();
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return s_; }
  void wait() const;  // until everything on it is done; throws CudaError if something failed

 private:
  cudaStream_t s_{};
};

class Pool {
 public:
  explicit Pool(bool host_sees = false) : host_sees_(host_sees) {}
  ~Pool() { release(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void* take(std::size_t bytes);  // 512-byte aligned at least; throws CudaError with the size if the device is full
  void give(void*) noexcept;      // what take() handed out, or nullptr
  void release() noexcept;        // gives everything unused back to the device
  bool host_sees() const { return host_sees_; }  // unified memory: the host may read it where it lies
  std::size_t held() const { return held_; }     // bytes taken from the device

 private:
  cudaError_t ask(void** p, std::size_t bytes) const;

  bool host_sees_;
  std::map<std::size_t, std::vector<void*>> free_;  // by size
  std::map<void*, std::size_t> sizes_;              // of everything held
  std::size_t held_ = 0;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
