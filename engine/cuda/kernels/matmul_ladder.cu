// C = A B, row-major, in six versions: M x K times K x N. Version 6 is the backend's own (matmul.cu).
//
// A warp is 32 threads with neighbouring threadIdx.x. What its lanes read at one instruction is fetched together, in
// sectors of 32 bytes: 8 neighbouring numbers cost as much as one. Shared memory has 32 banks; lanes that want
// different words of one bank wait for each other.
#include "engine/cuda/ladder.h"
#include "engine/cuda/tiles.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Corner {  // of a block's tile of C; blocks lie in rows, `size` apart
  int row, col;
};
__device__ Corner corner(const DeviceMat& C, int size) {
  const int right = ceil_div(C.cols, size);
  return {int(blockIdx.x) / right * size, int(blockIdx.x) % right * size};
}

// 1. A thread for each entry. Neighbouring lanes have neighbouring rows, so what they read of A and write to C lies ld
// apart: a sector for each row.
__global__ void naive_kernel(DeviceMat A, DeviceMat B, DeviceMat C) {
  const Corner at = corner(C, 16);
  const int i = at.row + int(threadIdx.x), j = at.col + int(threadIdx.y);
  if (i >= C.rows || j >= C.cols) return;
  float sum = 0;
  for (int k = 0; k < A.cols; ++k) {
    const float a = A(i, k);
    const float b = B(k, j);
    sum += a * b;
  }
  C(i, j) = sum;
}

// 2. The same, x and y exchanged: neighbouring lanes have neighbouring columns. A: one number for all; B and C: whole
// sectors.
__global__ void coalesced_kernel(DeviceMat A, DeviceMat B, DeviceMat C) {
  const Corner at = corner(C, 16);
  const int i = at.row + int(threadIdx.y), j = at.col + int(threadIdx.x);
  if (i >= C.rows || j >= C.cols) return;
  float sum = 0;
  for (int k = 0; k < A.cols; ++k) {
    const float a = A(i, k);
    const float b = B(k, j);
    sum += a * b;
  }
  C(i, j) = sum;
}

// 3. A block brings a tile of A and one of B to shared memory: each number is read from global memory once, and then by
// the 16 threads that need it.
constexpr int T = 16;
__global__ void shared_kernel(DeviceMat A, DeviceMat B, DeviceMat C) {
  __shared__ float a[T][T], b[T][T];
  const Corner at = corner(C, T);
  const int x = int(threadIdx.x), y = int(threadIdx.y), i = at.row + y, j = at.col + x;
  float sum = 0;
  for (int k0 = 0; k0 < A.cols; k0 += T) {
    a[y][x] = i < A.rows && k0 + x < A.cols ? A(i, k0 + x) : 0.0f;
    b[y][x] = k0 + y < B.rows && j < B.cols ? B(k0 + y, j) : 0.0f;
    __syncthreads();  // the tiles are complete
    for (int k = 0; k < T; ++k) sum += a[y][k] * b[k][x];
    __syncthreads();  // nobody reads them any more
  }
  if (i < C.rows && j < C.cols) C(i, j) = sum;
}

// 4. A thread computes 4 x 4 entries in registers: 8 reads of shared memory for 16 multiply-adds, not 32. The tile of A
// is stored with k down. A warp stores 4 rows of 8 numbers: 8 lanes meet in each bank.
constexpr int BM = 64, BK = 8;  // a tile of C is BM x BM, by 16 x 16 threads
__device__ void multiply_add(float (&sum)[4][4], const float* a, const float* b) {  // 4 x 1 times 1 x 4
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) sum[i][j] += a[i] * b[j];
  }
}

__global__ void __launch_bounds__(256) registers_kernel(DeviceMat A, DeviceMat B, DeviceMat C) {
  __shared__ float a[BK][BM], b[BK][BM];
  const Corner at = corner(C, BM);
  const int t = int(threadIdx.x), r = t / 16 * 4, c = t % 16 * 4;  // my 4 x 4
  float sum[4][4] = {};
  for (int k0 = 0; k0 < A.cols; k0 += BK) {
    for (int e = t; e < BM * BK; e += 256) {  // two of A and two of B
      const int i = at.row + e / BK, k = k0 + e % BK, j = at.col + e % BM, l = k0 + e / BM;
      a[e % BK][e / BK] = i < A.rows && k < A.cols ? A(i, k) : 0.0f;
      b[e / BM][e % BM] = l < B.rows && j < B.cols ? B(l, j) : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
      float v[4], w[4];
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        v[e] = a[k][r + e];
        w[e] = b[k][c + e];
      }
      multiply_add(sum, v, w);
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      if (at.row + r + i < C.rows && at.col + c + j < C.cols) C(at.row + r + i, at.col + c + j) = sum[i][j];
    }
  }
}

// 5. The same by fours: half of the threads bring a float4 of A each, the others one of B, and a tile is read by
// float4. A quarter of the instructions; and the store of A has two lanes in a bank, where it had eight.
__global__ void __launch_bounds__(256) float4_kernel(Operand A, Operand B, Result y) {
  alignas(16) __shared__ float a[BK][BM], b[BK][BM];
  const Corner at = corner(y.C, BM);
  const int t = int(threadIdx.x), r = t / 16 * 4, c = t % 16 * 4;
  const int m = t / 2, k = t % 2 * 4, u = t - 128, n = u % 16 * 4, l = u / 16;  // what I bring
  float sum[4][4] = {};
  for (int k0 = 0; k0 < A.k; k0 += BK) {
    if (t < 128) {
      const float4 v = fetch<true>(A, at.row + m, k0 + k);
      a[k][m] = v.x;
      a[k + 1][m] = v.y;
      a[k + 2][m] = v.z;
      a[k + 3][m] = v.w;
    } else {
      *reinterpret_cast<float4*>(&b[l][n]) = fetch<false>(B, at.col + n, k0 + l);
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < BK; ++q) {
      const float4 v = *reinterpret_cast<const float4*>(&a[q][r]);
      const float4 w = *reinterpret_cast<const float4*>(&b[q][c]);
      const float vs[4] = {v.x, v.y, v.z, v.w}, ws[4] = {w.x, w.y, w.z, w.w};
      multiply_add(sum, vs, ws);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) store(y, at.row + r + i, at.col + c, sum[i]);
}

dim3 blocks(Mat C, int size) { return dim3(unsigned(ceil_div(C.rows, size) * ceil_div(C.cols, size))); }
bool nothing(Mat C) { return C.rows == 0 || C.cols == 0; }

void naive(Mat A, Mat B, Mat C, cudaStream_t s) {
  if (!nothing(C)) launch({blocks(C, 16), dim3(16, 16), 0, s}, naive_kernel, A, B, C);
}
void coalesced(Mat A, Mat B, Mat C, cudaStream_t s) {
  if (!nothing(C)) launch({blocks(C, 16), dim3(16, 16), 0, s}, coalesced_kernel, A, B, C);
}
void shared(Mat A, Mat B, Mat C, cudaStream_t s) {
  if (!nothing(C)) launch({blocks(C, T), dim3(T, T), 0, s}, shared_kernel, A, B, C);
}
void registers(Mat A, Mat B, Mat C, cudaStream_t s) {
  if (!nothing(C)) launch({blocks(C, BM), dim3(256), 0, s}, registers_kernel, A, B, C);
}
void by_float4(Mat A, Mat B, Mat C, cudaStream_t s) {
  if (nothing(C)) return;
  const Operand a{A.data, A.ld, C.rows, A.cols, aligned(A)}, b{B.data, B.ld, C.cols, A.cols, aligned(B)};
  launch({blocks(C, BM), dim3(256), 0, s}, float4_kernel, a, b, Result{C, nullptr, false, aligned(C)});
}

}  // namespace

std::span<const ProductVersion> cuda_matmul_ladder() {
  static const ProductVersion all[] = {{1, "naive", naive},        {2, "coalesced", coalesced},
                                       {3, "shared tile", shared}, {4, "register tile", registers},
                                       {5, "float4", by_float4},   {6, "warp tile", multiply_by_warps}};
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
