// A launch with a thread for each entry of a matrix: neighbours in a row are neighbours in a warp. A grid has at most
// 65535 rows of blocks, so a thread goes on to every gridDim.y-th row:
//
//   for (int i = blockIdx.y; i < y.rows; i += gridDim.y)
#pragma once

#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {

inline Launch each_entry(int rows, int cols, cudaStream_t stream) {
  constexpr int kThreads = 128;
  return {dim3(unsigned(ceil_div(cols, kThreads)), unsigned(rows < 65535 ? rows : 65535)), dim3(kThreads), 0, stream};
}

// The column of this thread.
__device__ inline int my_column() { return int(blockIdx.x * blockDim.x + threadIdx.x); }

}  // namespace glass
