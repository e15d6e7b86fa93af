// One warp for each row of a matrix: lane l takes the columns l, l + 32, ... so neighbours read neighbours, and what a
// lane wrote it alone reads again. Whole warps leave together, so shuffles need no mask.
#pragma once

#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {

constexpr unsigned kRowsOfBlock = 4;  // one warp each

inline Launch warp_per_row(int rows, cudaStream_t s) {
  return {dim3(unsigned(ceil_div(rows, int(kRowsOfBlock)))), dim3(32, kRowsOfBlock), 0, s};
}
__device__ inline int row_of_warp() { return int(blockIdx.x * blockDim.y + threadIdx.y); }

__device__ inline float larger(float a, float b) { return a > b || a != a ? a : b; }  // a NaN is passed on

__device__ inline float warp_larger(float v) {
  for (int bits = 16; bits > 0; bits /= 2) v = larger(v, __shfl_xor_sync(kAllLanes, v, bits));
  return v;
}

// The maximum of a row, for every lane. -inf: the row is nothing but -inf, a query that may see no key.
__device__ inline float row_maximum(const float* row, int cols) {
  float m = -INFINITY;
  for (int j = int(threadIdx.x); j < cols; j += 32) m = larger(m, row[j]);
  return warp_larger(m);
}

}  // namespace glass
