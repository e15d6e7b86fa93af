#include <cstring>
#include <new>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void* CpuBackend::alloc(std::size_t bytes) {
  return ::operator new(bytes ? bytes : 1, std::align_val_t(64));
}

void CpuBackend::free(void* p) { ::operator delete(p, std::align_val_t(64)); }

void CpuBackend::upload(const void* host, void* device, std::size_t bytes) {
  if (bytes) std::memcpy(device, host, bytes);
}

void CpuBackend::copy(Mat x, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j);
}

void CpuBackend::fill(Mat y, Real value) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = value;
}

void CpuBackend::poison(void* p, std::size_t bytes) {
  std::memset(p, 0xff, bytes);  // all bits set is a NaN in float and in double
}

Backend& cpu_backend() {
  static CpuBackend cpu;
  return cpu;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
