#include <cstring>
#include <new>

#include "engine/cpu/cpu.h"
#include "engine/cpu/huge_pages.h"

namespace glass {
inline namespace GLASS_PRECISION {

const char* CpuBackend::name() const { return "cpu"; }
bool CpuBackend::host_readable() const { return true; }
void CpuBackend::to_host(Mat from, Mat to) { copy(from, to); }
void CpuBackend::from_host(Mat from, Mat to) { copy(from, to); }

void* CpuBackend::alloc(std::size_t bytes) {
  void* p = ::operator new(bytes ? bytes : 1, std::align_val_t(64));
  if (bytes >= 2 << 20) prefer_huge_pages(p, bytes);
  return p;
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

Backend::~Backend() = default;

static Backend*& chosen() {
  static CpuBackend plain;
  static Backend* be = &plain;
  return be;
}

Backend& cpu_backend() { return *chosen(); }

void choose_cpu(Backend& be) { chosen() = &be; }

}  // namespace GLASS_PRECISION
}  // namespace glass
