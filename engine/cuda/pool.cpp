#include "engine/cuda/pool.h"

#include "engine/cuda/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

Stream::Stream() { check(cudaStreamCreate(&s_)); }
Stream::~Stream() { cudaStreamDestroy(s_); }
void Stream::wait() const { check(cudaStreamSynchronize(s_)); }

cudaError_t Pool::ask(void** p, std::size_t bytes) const {
  return host_sees_ ? cudaMallocManaged(p, bytes) : cudaMalloc(p, bytes);
}

void* Pool::take(std::size_t bytes) {
  bytes = (bytes + 511) / 512 * 512;
  if (bytes == 0) bytes = 512;
  std::vector<void*>& same = free_[bytes];
  if (!same.empty()) {
    void* p = same.back();
    same.pop_back();
    return p;
  }
  void* p = nullptr;
  if (ask(&p, bytes) != cudaSuccess) {
    cudaGetLastError();  // or the next check would report it once more
    release();           // what lies idle in other sizes may be enough
    const cudaError_t e = ask(&p, bytes);
    if (e != cudaSuccess) {
      throw CudaError("CUDA: " + std::string(cudaGetErrorString(e)) + ": " + std::to_string(bytes) +
                      " bytes beside the " + std::to_string(held_) + " that are held");
    }
  }
  sizes_[p] = bytes;
  held_ += bytes;
  return p;
}

void Pool::give(void* p) noexcept {
  if (p) free_[sizes_[p]].push_back(p);
}

void Pool::release() noexcept {
  for (auto& [bytes, blocks] : free_) {
    for (void* p : blocks) {
      cudaFree(p);
      sizes_.erase(p);
      held_ -= bytes;
    }
  }
  free_.clear();
}

}  // namespace GLASS_PRECISION
}  // namespace glass
