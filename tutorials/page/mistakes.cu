#include "tutorials/page/mistakes.h"

#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int T = 16;

// Version 3 of the product, for multiples of 16, without its second barrier: a thread that is done with these tiles
// overwrites them, while others still read.
__global__ void no_barrier_kernel(DeviceMat A, DeviceMat B, DeviceMat C) {
  __shared__ float a[T][T], b[T][T];
  const int x = int(threadIdx.x), y = int(threadIdx.y), i = int(blockIdx.y) * T + y, j = int(blockIdx.x) * T + x;
  float sum = 0;
  for (int k0 = 0; k0 < A.cols; k0 += T) {
    a[y][x] = A(i, k0 + x);
    b[y][x] = B(k0 + y, j);
    __syncthreads();
    for (int k = 0; k < T; ++k) {
      sum += a[y][k] * b[k][x];
    }
  }
  C(i, j) = sum;
}

// Sums down columns, a block for every other row: two blocks read the same old y, and one of the new ones is lost.
__global__ void lost_kernel(DeviceMat x, DeviceMat y) {
  const int j = int(threadIdx.x);
  float sum = y(0, j);
  for (int i = int(blockIdx.x); i < x.rows; i += int(gridDim.x)) sum += x(i, j);
  y(0, j) = sum;
}

// The cure: the memory itself adds.
__global__ void atomic_kernel(DeviceMat x, DeviceMat y) {
  const int j = int(threadIdx.x);
  float sum = 0;
  for (int i = int(blockIdx.x); i < x.rows; i += int(gridDim.x)) sum += x(i, j);
  atomicAdd(&y(0, j), sum);
}

}  // namespace

void multiply_without_barrier(Mat A, Mat B, Mat C, cudaStream_t s) {
  launch({dim3(unsigned(C.cols / T), unsigned(C.rows / T)), dim3(T, T), 0, s}, no_barrier_kernel, A, B, C);
}
void lose_updates(Mat x, Mat y, cudaStream_t s) {
  launch({dim3(unsigned(x.rows + 1) / 2), dim3(unsigned(x.cols)), 0, s}, lost_kernel, x, y);
}
void count_updates(Mat x, Mat y, cudaStream_t s) {
  launch({dim3(unsigned(x.rows + 1) / 2), dim3(unsigned(x.cols)), 0, s}, atomic_kernel, x, y);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
