// What the watcher must find: each kernel here has one classic mistake, or none.
#include <vector>

#include "engine/cuda/launch.cuh"
#include "engine/cuda/pool.h"
#include "tests/catch.h"
#include "tests/cuda/watcher.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr int kTile = 16;

// C = A B, n x n, a tile in shared memory, either barrier left out.
template <bool first, bool second>
__global__ void tiled(const float* A, const float* B, float* C, int n) {
  __shared__ float a[kTile][kTile], b[kTile][kTile];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * kTile + y, col = blockIdx.x * kTile + x;
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += kTile) {
    a[y][x] = A[row * n + k0 + x];
    b[y][x] = B[(k0 + y) * n + col];
    if (first) __syncthreads();
    for (int k = 0; k < kTile; ++k) sum += a[y][k] * b[k][x];
    if (second) __syncthreads();
  }
  C[row * n + col] = sum;
}

__global__ void transposed(const float* x, float* y, int n) {  // one tile without padding
  __shared__ float t[32][32];
  t[threadIdx.y][threadIdx.x] = x[threadIdx.y * n + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * n + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}

__global__ void copied_down(const float* x, float* y, int n) { y[threadIdx.x * n] = x[threadIdx.x]; }

__global__ void lost_update(const float* x, float* y, int n) { y[threadIdx.x] += x[blockIdx.x * n + threadIdx.x]; }

__global__ void counted_update(const float* x, float* y, int n) {
  atomicAdd(&y[threadIdx.x], x[blockIdx.x * n + threadIdx.x]);
}

template <bool wait>
__global__ void turned_in_a_warp(float* y) {
  __shared__ float s[32];
  s[threadIdx.x] = float(threadIdx.x);
  if (wait) __syncwarp();
  y[threadIdx.x] = s[31 - threadIdx.x];
}

__global__ void unwritten(float* y) {
  __shared__ float s[33];
  s[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = s[threadIdx.x + 1];
}

struct Numbers {  // n floats of device memory, all 1
  Pool pool;
  float* data;
  explicit Numbers(int n) : data(static_cast<float*>(pool.take(std::size_t(n) * sizeof(float)))) {
    const std::vector<float> ones(std::size_t(n), 1.0f);
    check(cudaMemcpy(data, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice));
  }
  ~Numbers() { pool.give(data); }
};

}  // namespace

TEST_CASE("a missing barrier is found, with both lines and both threads") {
  const int n = 64;
  Numbers a(n * n), b(n * n), c(n * n);
  const Launch shape{dim3(n / kTile, n / kTile), dim3(kTile, kTile)};
  cuda_on_cpu::forget_accesses();
  launch(shape, tiled<true, true>, a.data, b.data, c.data, n);
  CHECK(slow_lines() == "");
  // 16 blocks of 8 warps, 4 tiles: a warp reads two rows of 16 floats, two sectors each
  CHECK(traffic("a[y][x] = A[", false, false).requests == 16 * 8 * 4);
  CHECK(traffic("a[y][x] = A[", false, false).cost == 16 * 8 * 4 * 4);
  CHECK_THROWS_WITH(launch(shape, tiled<false, true>, a.data, b.data, c.data, n),
                    ContainsSubstring("race on shared memory, no barrier in between") &&
                        ContainsSubstring("block 0 thread (0,0,0) wrote at watcher_test.cu:") &&
                        ContainsSubstring("block 0 thread (1,0,0) reads at watcher_test.cu:"));
  CHECK_THROWS_WITH(launch(shape, tiled<true, false>, a.data, b.data, c.data, n), ContainsSubstring("race on shared"));
}

TEST_CASE("bank conflicts and sectors used in part are counted") {
  const int n = 32;
  Numbers x(n * n), y(n * n);
  cuda_on_cpu::forget_accesses();
  launch({dim3(1), dim3(32, 32)}, transposed, x.data, y.data, n);
  CHECK(slow_lines() == "watcher_test.cu shared read 32.00 passes, best 1.00: y[threadIdx.y * n + threadIdx.x] = "
                        "t[threadIdx.x][threadIdx.y];\n");
  cuda_on_cpu::forget_accesses();
  launch({dim3(1), dim3(32)}, copied_down, x.data, y.data, n);
  CHECK(traffic("y[threadIdx.x * n]", false, true).cost == 32);
  CHECK(traffic("y[threadIdx.x * n]", false, true).best == 4);
}

TEST_CASE("blocks that update one number lose updates, unless atomically") {
  Numbers x(4 * 32), y(32);
  CHECK_THROWS_WITH(launch({dim3(4), dim3(32)}, lost_update, x.data, y.data, 32), ContainsSubstring("race on global"));
  launch({dim3(4), dim3(32)}, counted_update, x.data, y.data, 32);
}

TEST_CASE("lanes of a warp that exchange through shared memory must wait, too") {
  Numbers y(32);
  CHECK_THROWS_WITH(launch({dim3(1), dim3(32)}, turned_in_a_warp<false>, y.data), ContainsSubstring("race on shared"));
  launch({dim3(1), dim3(32)}, turned_in_a_warp<true>, y.data);
}

TEST_CASE("shared memory that nobody has written is not read") {
  Numbers y(32);
  CHECK_THROWS_WITH(launch({dim3(1), dim3(32)}, unwritten, y.data), ContainsSubstring("nobody has written"));
}
