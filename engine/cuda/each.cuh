// y_ij = f(i, j) for every entry of y: how all elementwise kernels run. f is a small struct that holds the matrices it
// reads:
//
//   struct Sum { DeviceMat a, b; __device__ float operator()(int i, int j) const { return a(i, j) + b(i, j); } };
//   each(y, Sum{a, b}, stream);
//
// Neighbouring threads take neighbouring columns, so a warp reads and writes whole sectors. Each thread takes four
// columns, a block's width apart, and computes all four before it stores one: four loads are under way at the same
// time. y may be one of the matrices that f reads, since a thread reads no entry that another one writes.
#pragma once

#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {

constexpr int kEach = 4;       // columns of one thread
constexpr int kThreads = 256;  // of one block

template <class F>
__global__ void __launch_bounds__(kThreads) each_kernel(F f, DeviceMat y) {
  const int first = int(blockIdx.x * blockDim.x) * kEach + int(threadIdx.x), step = int(blockDim.x);
  for (int i = int(blockIdx.y * blockDim.y + threadIdx.y); i < y.rows; i += int(gridDim.y * blockDim.y)) {
    float v[kEach];
#pragma unroll
    for (int n = 0; n < kEach; ++n) v[n] = first + n * step < y.cols ? f(i, first + n * step) : 0;
#pragma unroll
    for (int n = 0; n < kEach; ++n) {
      if (first + n * step < y.cols) y(i, first + n * step) = v[n];
    }
  }
}

// A block for rows of so many columns: as wide as they are, up to a warp; wider for more than four warps of columns.
// What is left of its threads takes other rows.
inline dim3 block_for(int cols) {
  unsigned wide = 1;
  while (int(wide) < cols && (wide < 32 || int(wide) * kEach < cols) && wide < kThreads) wide *= 2;
  return {wide, kThreads / wide};
}

inline unsigned at_most(int n, int limit) { return unsigned(n < limit ? n : limit); }

template <class F>
void each(Mat y, F f, cudaStream_t stream) {
  if (y.rows == 0 || y.cols == 0) return;
  const dim3 block = block_for(y.cols);
  const dim3 grid(unsigned(ceil_div(y.cols, int(block.x) * kEach)), at_most(ceil_div(y.rows, int(block.y)), 65535));
  launch({grid, block, 0, stream}, each_kernel<F>, f, y);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
