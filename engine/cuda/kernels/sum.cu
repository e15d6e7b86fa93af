// y = Σ x, six times, from slow to fast        x: 1 x n    y: 1 x 1
//
//   1  one thread       n steps, one after another, while the rest of the device sleeps
//   2  atomics          a thread for each number, and all of them queue for y. Their order is the device's, and a float
//                       sum in another order has other last digits: two runs differ
//   3  tree             in shared memory: 8 steps for 256 numbers, a barrier after each; one atomic for each block
//   4  shuffles         the last five steps of the tree, inside a warp, need neither memory nor barriers
//   5  two passes       a block writes its part, a second kernel joins the parts: no atomics, the same bits every time
//   6  float4           as 5, four numbers with one load
//
// All in float, to show what the order does; the backend's sums (kernels/reduce.cu) go the way of 5, in double.
// Harris 2007, "Optimizing Parallel Reduction in CUDA".
#include "engine/cuda/sum_ladder.h"

#include <cstdint>

#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int kBlock = 256, kBlocks = 64;

__global__ void sum_1(const float* x, int n, float* y) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  *y = sum;
}

__global__ void sum_2(const float* x, int n, float* y) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(y, x[i]);
}

__global__ void sum_3(const float* x, int n, float* y) {
  __shared__ float part[kBlock];
  const int t = int(threadIdx.x), i = int(blockIdx.x) * kBlock + t;
  part[t] = i < n ? x[i] : 0;
  for (int half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();  // all of the last step are done
    if (t < half) part[t] += part[t + half];
  }
  if (t == 0) atomicAdd(y, part[0]);
}

// The sum over the block, for thread 0.
__device__ float block_sum(float v) {
  __shared__ float of_warps[kBlock / 32];
  const int t = int(threadIdx.x);
  v = warp_sum(v);
  if (t % 32 == 0) of_warps[t / 32] = v;
  __syncthreads();
  return t < 32 ? warp_sum(t < kBlock / 32 ? of_warps[t] : 0.0f) : 0;
}

__global__ void sum_4(const float* x, int n, float* y) {
  const int i = int(blockIdx.x) * kBlock + int(threadIdx.x);
  const float sum = block_sum(i < n ? x[i] : 0);
  if (threadIdx.x == 0) atomicAdd(y, sum);
}

// Both passes: with many blocks, y has a number for each; with one block it is the sum.
__global__ void sum_5(const float* x, int n, float* y) {
  float sum = 0;
  for (int i = int(blockIdx.x) * kBlock + int(threadIdx.x); i < n; i += int(gridDim.x) * kBlock) sum += x[i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// x: 16-byte aligned; the n % 4 numbers at the end go to the first threads.
__global__ void sum_6(const float* x, int n, float* y) {
  const float4* const fours = reinterpret_cast<const float4*>(x);
  const int me = int(blockIdx.x) * kBlock + int(threadIdx.x);
  float sum = me < n % 4 ? x[n / 4 * 4 + me] : 0;
  for (int i = me; i < n / 4; i += int(gridDim.x) * kBlock) {
    const float4 v = fours[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

using Kernel = void (*)(const float*, int, float*);

// A thread for each number of x, which adds to y.
template <Kernel kernel>
void added_up(Mat x, Mat y, Pool&, cudaStream_t stream) {
  check(cudaMemsetAsync(y.data, 0, sizeof(float), stream));
  if (x.cols > 0)
    launch({dim3(unsigned(ceil_div(x.cols, kBlock))), dim3(kBlock), 0, stream}, kernel, x.data, x.cols, y.data);
}

// A part for each block, then the parts.
template <Kernel kernel>
void two_passes(Mat x, Mat y, Pool& scratch, cudaStream_t stream) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(x.data) % sizeof(float4) == 0;
  float* const parts = static_cast<float*>(scratch.take(kBlocks * sizeof(float)));
  launch({dim3(kBlocks), dim3(kBlock), 0, stream}, aligned ? kernel : sum_5, x.data, x.cols, parts);
  launch({dim3(1), dim3(kBlock), 0, stream}, sum_5, parts, kBlocks, y.data);
  scratch.give(parts);
}

void alone(Mat x, Mat y, Pool&, cudaStream_t stream) {
  launch({dim3(1), dim3(1), 0, stream}, sum_1, x.data, x.cols, y.data);
}

constexpr SumVersion kVersions[] = {
    {1, "one thread", alone},         {2, "atomics", added_up<sum_2>},      {3, "tree", added_up<sum_3>},
    {4, "shuffles", added_up<sum_4>}, {5, "two passes", two_passes<sum_5>}, {6, "float4", two_passes<sum_6>}};

}  // namespace

std::span<const SumVersion> cuda_sum_ladder() { return kVersions; }

}  // namespace GLASS_PRECISION
}  // namespace glass
