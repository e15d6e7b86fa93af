//   NN  C_ij = Σ_k A_ik B_kj      NT  C_ij = Σ_k A_ik B_jk      TN  C_ij = Σ_k A_ki B_kj
//
// A block computes a tile of C, BM x BN; each of its warps a part of that, WM x WN; each lane squares of 4 x 4, held in
// registers. In steps of 8 along k, the block brings 8 x BM numbers of A and 8 x BN of B to shared memory, both with k
// down, so that a lane reads 4 neighbours at once. Each thread brings one float4 of each.
//
//        B: 8 x BN            lane (r, c) of a warp, 4 x 8 lanes, WM = 32, WN = 64: four squares
//   A    +-------+              rows     r*4 .. +3  and 16 higher
//  BM    | tile  |              columns  c*4 .. +3  and 32 higher
//   x 8  | of C  |            so 8 lanes read all 32 banks, or one address: no conflicts
//        +-------+
//
// Two buffers: while one is multiplied, the next numbers are on their way. One barrier for each step is enough.
// Version 6 of the ladder (matmul_ladder.cu has the way to here).
#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/cuda/products.h"
#include "engine/cuda/tiles.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int BK = 8;
constexpr int kPad = 4;  // 4 (BM + 4) is 16 banks: the two halves of a transposed store do not meet

// Thread t of a tile that is B wide: which 4 numbers it brings.
template <bool kAlongK, int B>
__device__ int my_m(int t) {
  return kAlongK ? t / 2 : t % (B / 4) * 4;
}
template <bool kAlongK, int B>
__device__ int my_k(int t) {
  return kAlongK ? t % 2 * 4 : t / (B / 4);
}

template <bool kAlongK, int B>
__device__ void put(float4 v, float (*tile)[B + kPad], int t) {
  const int m = my_m<kAlongK, B>(t), k = my_k<kAlongK, B>(t);
  if (kAlongK) {
    tile[k][m] = v.x;
    tile[k + 1][m] = v.y;
    tile[k + 2][m] = v.z;
    tile[k + 3][m] = v.w;
  } else {
    *reinterpret_cast<float4*>(&tile[k][m]) = v;
  }
}

template <bool kAlongKOfA, bool kAlongKOfB, int BM, int BN, int WM, int WN>
__global__ void __launch_bounds__(BM* BN / (WM * WN) * 32) product_kernel(Operand A, Operand B, Result y) {
  constexpr int kSquaresDown = WM / 16, kSquaresRight = WN / 32;
  alignas(16) __shared__ float a[2][BK][BM + kPad], b[2][BK][BN + kPad];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  const int tiles_right = ceil_div(y.C.cols, BN);
  const int i0 = int(blockIdx.x) / tiles_right * BM, j0 = int(blockIdx.x) % tiles_right * BN;
  const int mi = warp / (BN / WN) * WM + lane / 8 * 4, mj = warp % (BN / WN) * WN + lane % 8 * 4;  // my first square
  const int am = i0 + my_m<kAlongKOfA, BM>(t), ak = my_k<kAlongKOfA, BM>(t);
  const int bm = j0 + my_m<kAlongKOfB, BN>(t), bk = my_k<kAlongKOfB, BN>(t);
  float sum[kSquaresDown * 4][kSquaresRight * 4] = {};

  put<kAlongKOfA, BM>(fetch<kAlongKOfA>(A, am, ak), a[0], t);
  put<kAlongKOfB, BN>(fetch<kAlongKOfB>(B, bm, bk), b[0], t);
  __syncthreads();
  for (int k0 = 0, now = 0; k0 < A.k; k0 += BK, now ^= 1) {
    const float4 next_a = fetch<kAlongKOfA>(A, am, k0 + BK + ak), next_b = fetch<kAlongKOfB>(B, bm, k0 + BK + bk);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float4 x[kSquaresDown], w[kSquaresRight];
#pragma unroll
      for (int s = 0; s < kSquaresDown; ++s) x[s] = *reinterpret_cast<const float4*>(&a[now][k][mi + 16 * s]);
#pragma unroll
      for (int s = 0; s < kSquaresRight; ++s) w[s] = *reinterpret_cast<const float4*>(&b[now][k][mj + 32 * s]);
#pragma unroll
      for (int s = 0; s < kSquaresDown; ++s) {
        const float rows[4] = {x[s].x, x[s].y, x[s].z, x[s].w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
          for (int u = 0; u < kSquaresRight; ++u) {
            sum[4 * s + i][4 * u] += rows[i] * w[u].x;
            sum[4 * s + i][4 * u + 1] += rows[i] * w[u].y;
            sum[4 * s + i][4 * u + 2] += rows[i] * w[u].z;
            sum[4 * s + i][4 * u + 3] += rows[i] * w[u].w;
          }
        }
      }
    }
    put<kAlongKOfA, BM>(next_a, a[now ^ 1], t);  // nobody reads this buffer: they did so before the last barrier
    put<kAlongKOfB, BN>(next_b, b[now ^ 1], t);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4 * kSquaresDown; ++i) {
#pragma unroll
    for (int u = 0; u < kSquaresRight; ++u) {
      store(y, i0 + mi + i / 4 * 16 + i % 4, j0 + mj + 32 * u, &sum[i][4 * u]);
    }
  }
}

template <bool kAlongKOfA, bool kAlongKOfB>
void launch_product(const Operand& A, const Operand& B, const Result& y, cudaStream_t stream) {
  const auto tiles = [&](int size) { return std::ptrdiff_t(ceil_div(y.C.rows, size)) * ceil_div(y.C.cols, size); };
  if (tiles(128) >= 64) {  // enough of them to keep half of a large GPU busy
    launch({dim3(unsigned(tiles(128))), dim3(256), 0, stream}, product_kernel<kAlongKOfA, kAlongKOfB, 128, 128, 32, 64>,
           A, B, y);
  } else {
    launch({dim3(unsigned(tiles(32))), dim3(64), 0, stream}, product_kernel<kAlongKOfA, kAlongKOfB, 32, 32, 16, 32>, A,
           B, y);
  }
}

void product(Product form, Mat a, Mat b, const Result& y, cudaStream_t stream) {
  if (y.C.rows == 0 || y.C.cols == 0) return;
  const int depth = form == Product::TN ? a.rows : a.cols;
  const Operand A{a.data, a.ld, y.C.rows, depth, aligned(a)}, B{b.data, b.ld, y.C.cols, depth, aligned(b)};
  switch (form) {
    case Product::NN:
      return launch_product<true, false>(A, B, y, stream);
    case Product::NT:
      return launch_product<true, true>(A, B, y, stream);
    case Product::TN:
      return launch_product<false, false>(A, B, y, stream);
  }
}

}  // namespace

void multiply_by_warps(Mat a, Mat b, Mat c, cudaStream_t stream) {
  product(Product::NN, a, b, {c, nullptr, false, aligned(c)}, stream);
}

void CudaBackend::matmul(Product form, Mat a, Mat b, Mat c, bool accumulate) {
  if (products() == Products::own) {
    product(form, a, b, {c, nullptr, accumulate, aligned(c)}, stream);
  } else {
    library_matmul(form, a, b, c, accumulate, products() == Products::cublas_tf32, stream);
  }
}

void CudaBackend::matmul_add_row(Mat a, Mat b, Mat r, Mat c) {
  if (products() == Products::own) {
    product(Product::NN, a, b, {c, r.data, false, aligned(c)}, stream);
  } else {
    fill(c, 0);
    add_row(c, r, c);
    matmul(Product::NN, a, b, c, true);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
