// A Mat as a kernel sees it: a view of device memory, row r at data + r*ld. A Mat becomes one where it is handed to a
// kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DeviceMat {
  float* data = nullptr;
  int rows = 0, cols = 0, ld = 0;

  DeviceMat(Mat m) : data(m.data), rows(m.rows), cols(m.cols), ld(m.ld) {}
  __device__ float* row(int r) const { return data + std::ptrdiff_t(r) * ld; }
  __device__ float& operator()(int r, int c) const { return row(r)[c]; }
};

}  // namespace GLASS_PRECISION
}  // namespace glass
