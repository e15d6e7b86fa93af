// y = value
#include "engine/cuda/cuda.h"
#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

__global__ void fill_kernel(DeviceMat y, float value) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = blockIdx.y; i < y.rows; i += gridDim.y) {
    if (j < y.cols) y(i, j) = value;
  }
}

}  // namespace

void CudaBackend::fill(Mat y, Real value) {
  if (y.rows == 0 || y.cols == 0) return;
  const dim3 grid(unsigned(ceil_div(y.cols, 128)), unsigned(y.rows < 65535 ? y.rows : 65535));
  launch({grid, dim3(128), 0, stream}, fill_kernel, y, value);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
