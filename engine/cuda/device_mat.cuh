// Mat and Keep as a kernel sees them: views of device memory, row r of a Mat at data + r*ld. A Mat becomes a DeviceMat
// where it is handed to a kernel.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

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

// Every group of 4 neighbours of a row may be read as a float4.
inline bool aligned(Mat x) { return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && x.ld % 4 == 0; }

struct DeviceKeep {
  unsigned char* data = nullptr;
  int rows = 0, cols = 0;

  DeviceKeep(Keep k) : data(k.data), rows(k.rows), cols(k.cols) {}
  __device__ bool operator()(int r, int c) const { return data[std::ptrdiff_t(r) * cols + c] != 0; }
};

}  // namespace GLASS_PRECISION
}  // namespace glass
