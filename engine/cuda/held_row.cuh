// A row in the registers of its threads, four numbers at a time: thread t has the columns 4q to 4q + 3 for q = t, t + threads, ...
// Memory is read once, and what a kernel needs twice it has at hand. A warp for each row, or a block where rows are long. For a
// whole number of fours, aligned; more than 16 numbers for a thread would take more registers than leave room for enough warps.
#pragma once

#include "engine/cuda/rows.cuh"

namespace glass {
inline namespace GLASS_PRECISION {

template <int kFours>  // of each thread
struct HeldRow {
  float v[4 * kFours];

  __device__ HeldRow(const float* row, int cols) {  // zeros behind the last column
#pragma unroll
    for (int n = 0; n < kFours; ++n) {
      const int q = int(threadIdx.x + n * blockDim.x);
      const float4 four = 4 * q < cols ? reinterpret_cast<const float4*>(row)[q] : make_float4(0, 0, 0, 0);
      v[4 * n] = four.x, v[4 * n + 1] = four.y, v[4 * n + 2] = four.z, v[4 * n + 3] = four.w;
    }
  }
  __device__ void store(float* row, int cols) const {
#pragma unroll
    for (int n = 0; n < kFours; ++n) {
      const int q = int(threadIdx.x + n * blockDim.x);
      if (4 * q < cols) reinterpret_cast<float4*>(row)[q] = make_float4(v[4 * n], v[4 * n + 1], v[4 * n + 2], v[4 * n + 3]);
    }
  }
  __device__ static bool has(int e, int cols) {  // is v[e] a column?
    return 4 * int(threadIdx.x + unsigned(e / 4) * blockDim.x) < cols;
  }
};

constexpr int kHeldWarps = 8;  // of a block that has one row

template <bool kBlock>
__device__ int held_row_number() {
  return kBlock ? int(blockIdx.x) : row_of_warp();
}

// Of the threads of a row, for each of them. In an order that is always the same.
template <bool kBlock>
__device__ double held_row_sum(double sum) {
  sum = warp_sum(sum);
  if (!kBlock) return sum;
  __shared__ double of_warps[kHeldWarps];
  __syncthreads();  // the sum before this one has been read
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < kHeldWarps; ++w) sum += of_warps[w];
  return sum;
}

// Whether the rows of this matrix can be held so.
inline bool can_be_held(Mat x) { return x.cols % 4 == 0 && x.cols <= 4096 && aligned(x); }

// Kernels for up to 128, 256 and 512 columns by warps, for 1024, 2048 and 4096 by blocks: which one is it, and how is it launched?
inline int held_size(int cols) {
  int size = 0;
  while (cols > 128 << size) ++size;
  return size;
}
inline Launch held_launch(int size, int rows, cudaStream_t s) {
  return size < 3 ? warp_per_row(rows, s) : Launch{dim3(unsigned(rows)), dim3(32 * kHeldWarps), 0, s};
}

}  // namespace GLASS_PRECISION
}  // namespace glass
