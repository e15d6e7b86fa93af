// Memory of the device: every copy is explicit and in the order of the backend's stream.
#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

CudaBackend::CudaBackend(bool host_sees) : pool(host_sees) {}

const char* CudaBackend::name() const { return "cuda"; }
bool CudaBackend::host_readable() const { return pool.host_sees(); }
void* CudaBackend::alloc(std::size_t bytes) { return pool.take(bytes); }
void CudaBackend::free(void* p) { pool.give(p); }

static void copy_rows(Mat from, Mat to, cudaMemcpyKind kind, cudaStream_t stream) {
  if (to.rows == 0 || to.cols == 0) return;
  check(cudaMemcpy2DAsync(to.data, std::size_t(to.ld) * sizeof(Real), from.data, std::size_t(from.ld) * sizeof(Real),
                          std::size_t(to.cols) * sizeof(Real), std::size_t(to.rows), kind, stream));
}

void CudaBackend::to_host(Mat from, Mat to) {
  copy_rows(from, to, cudaMemcpyDeviceToHost, stream);
  stream.wait();
}

void CudaBackend::from_host(Mat from, Mat to) {
  copy_rows(from, to, cudaMemcpyHostToDevice, stream);
  stream.wait();  // the caller may change `from` now
}

void CudaBackend::upload(const void* host, void* device, std::size_t bytes) {
  if (!bytes) return;
  check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream));
  stream.wait();
}

void CudaBackend::copy(Mat x, Mat y) {
  copy_rows(x, y, cudaMemcpyDeviceToDevice, stream);
  if (pool.host_sees()) stream.wait();
}

void CudaBackend::poison(void* p, std::size_t bytes) {
  if (bytes) check(cudaMemsetAsync(p, 0xff, bytes, stream));  // all bits set is a NaN
  if (pool.host_sees()) stream.wait();
}

}  // namespace GLASS_PRECISION
}  // namespace glass
