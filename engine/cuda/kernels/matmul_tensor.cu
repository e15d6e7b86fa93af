// C = A B on tensor cores, A and B in bfloat16, sums in float: versions 7 and 8 of the ladder.
//
// A tensor core multiplies small matrices, not numbers: a warp hands it 16 x 16 times 16 x 8 at once. Both versions
// bring tiles to shared memory by asynchronous copies (cp.async): they run while the tiles before them are multiplied.
#include <cuda_bf16.h>
#include <cuda_pipeline.h>
#include <mma.h>

#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/ladder.h"
#include "engine/cuda/launch.cuh"
#include "tensor_ops.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

using bf16 = __nv_bfloat16;
namespace wmma = nvcuda::wmma;
constexpr int BK = 32;
constexpr int kPad = 8;  // 16 bytes: 8 rows begin in 8 different groups of 4 banks

// A tile of `rows` x `cols` to shared memory, by all threads of the block, 16 bytes at a time.
template <int rows, int cols>
__device__ void fetch(bf16 (*to)[cols + kPad], const bf16* from, int ld) {
  constexpr int kChunks = cols / 8;
  for (int i = int(threadIdx.x); i < rows * kChunks; i += int(blockDim.x)) {
    const int r = i / kChunks, c = i % kChunks * 8;
    __pipeline_memcpy_async(&to[r][c], from + std::ptrdiff_t(r) * ld + c, 16);
  }
}

template <int BM, int BN>
struct Stage {
  bf16 a[BM][BK + kPad], b[BK][BN + kPad];
};
template <int BM, int BN>
__device__ void fetch(Stage<BM, BN>& s, const bf16* A, int lda, const bf16* B, int ldb, int k0) {
  fetch<BM, BK>(s.a, A + k0, lda);
  fetch<BK, BN>(s.b, B + std::ptrdiff_t(k0) * ldb, ldb);
}

// 7. Fragments of the wmma functions. Four warps compute 64 x 64 of C, each 32 x 32. Which lane holds what is secret,
// so the result goes through shared memory, which has an order.
constexpr int kSmall = 64;
__global__ void __launch_bounds__(128) wmma_kernel(const bf16* A, int lda, const bf16* B, int ldb, int K, DeviceMat C) {
  using S = Stage<kSmall, kSmall>;
  S* stage = dynamic_shared<S>();
  const int right = ceil_div(C.cols, kSmall), row0 = int(blockIdx.x) / right * kSmall;
  const int col0 = int(blockIdx.x) % right * kSmall;
  const int warp = int(threadIdx.x) / 32, row = warp / 2 * 32, col = warp % 2 * 32;
  A += std::ptrdiff_t(row0) * lda;
  B += col0;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
  for (auto& r : sum) {
    for (auto& f : r) wmma::fill_fragment(f, 0.0f);
  }
  fetch(stage[0], A, lda, B, ldb, 0);
  __pipeline_commit();
  for (int k0 = 0, now = 0; k0 < K; k0 += BK, now ^= 1) {
    if (k0 + BK < K) fetch(stage[now ^ 1], A, lda, B, ldb, k0 + BK);
    __pipeline_commit();
    __pipeline_wait_prior(1);  // my copies for this stage are done ...
    __syncthreads();           // ... and everyone's
    for (int k = 0; k < BK; k += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::row_major> b[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a[i], &stage[now].a[row + 16 * i][k], BK + kPad);
        wmma::load_matrix_sync(b[i], &stage[now].b[k][col + 16 * i], kSmall + kPad);
      }
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();  // the stage may be overwritten
  }
  float* c = dynamic_shared<float>();  // kSmall x kSmall: the stages are done
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(&c[(row + 16 * i) * kSmall + col + 16 * j], sum[i][j], kSmall, wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (int e = int(threadIdx.x); e < kSmall * kSmall; e += 128) {
    const int i = row0 + e / kSmall, j = col0 + e % kSmall;
    if (i < C.rows && j < C.cols) C(i, j) = c[e];
  }
}

// 8. The instructions themselves: ldmatrix brings four 8 x 8 matrices to the registers of a warp, mma.sync multiplies
// them (engine/cuda/gpu/include/tensor_ops.cuh). Eight warps compute 128 x 128 of C, each 64 x 32. Three stages: two
// are on their way while one is multiplied, with one barrier for each.
//
//   lane l of a 16 x 8 square of C:  row l/4, columns l%4*2 and the next, and the same 8 rows lower
constexpr int kLarge = 128, kStages = 3;
__global__ void __launch_bounds__(256) mma_kernel(const bf16* A, int lda, const bf16* B, int ldb, int K, DeviceMat C) {
  using S = Stage<kLarge, kLarge>;
  S* stage = dynamic_shared<S>();
  const int right = ceil_div(C.cols, kLarge), row0 = int(blockIdx.x) / right * kLarge;
  const int col0 = int(blockIdx.x) % right * kLarge;
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, row = warp / 4 * 64, col = warp % 4 * 32;
  A += std::ptrdiff_t(row0) * lda;
  B += col0;
  float sum[4][4][4] = {};
  for (int s = 0; s < kStages - 1; ++s) {
    if (s * BK < K) fetch(stage[s], A, lda, B, ldb, s * BK);
    __pipeline_commit();
  }
  for (int k0 = 0, now = 0; k0 < K; k0 += BK, now = (now + 1) % kStages) {
    __pipeline_wait_prior(kStages - 2);
    __syncthreads();  // this stage is here, and nobody reads the one before, which is filled again
    if (k0 + (kStages - 1) * BK < K) {
      fetch(stage[(now + kStages - 1) % kStages], A, lda, B, ldb, k0 + (kStages - 1) * BK);
    }
    __pipeline_commit();
#pragma unroll
    for (int k = 0; k < BK; k += 16) {
      std::uint32_t a[4][4], b[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i) tensor::load(a[i], &stage[now].a[row + 16 * i + lane % 16][k + lane / 16 * 8]);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        tensor::load_transposed(b[j], &stage[now].b[k + lane % 16][col + 16 * j + lane / 16 * 8]);
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          tensor::multiply_add(sum[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int r = row0 + row + 16 * i + lane / 4 + e / 2 * 8, c = col0 + col + 8 * j + lane % 4 * 2 + e % 2;
        if (r < C.rows && c < C.cols) C(r, c) = sum[i][j][e];
      }
    }
  }
}

__global__ void round_kernel(DeviceMat x, bf16* y, int rows, int ld) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= ld) return;
  for (int i = int(blockIdx.y); i < rows; i += int(gridDim.y)) {
    y[std::ptrdiff_t(i) * ld + j] = __float2bfloat16(i < x.rows && j < x.cols ? x(i, j) : 0.0f);
  }
}

int padded(int n) { return ceil_div(n, kLarge) * kLarge; }

void by_wmma(const Rounded& A, const Rounded& B, Mat C, cudaStream_t s) {
  if (C.rows == 0 || C.cols == 0) return;
  const dim3 blocks(unsigned(ceil_div(C.rows, kSmall) * ceil_div(C.cols, kSmall)));
  launch({blocks, dim3(128), 2 * sizeof(Stage<kSmall, kSmall>), s}, wmma_kernel, static_cast<const bf16*>(A.data),
         padded(A.cols), static_cast<const bf16*>(B.data), padded(B.cols), A.cols, C);
}

void by_mma(const Rounded& A, const Rounded& B, Mat C, cudaStream_t s) {
  if (C.rows == 0 || C.cols == 0) return;
  const dim3 blocks(unsigned(ceil_div(C.rows, kLarge) * ceil_div(C.cols, kLarge)));
  launch({blocks, dim3(256), kStages * sizeof(Stage<kLarge, kLarge>), s}, mma_kernel, static_cast<const bf16*>(A.data),
         padded(A.cols), static_cast<const bf16*>(B.data), padded(B.cols), A.cols, C);
}

}  // namespace

Rounded::Rounded(Mat x, Pool& p, cudaStream_t s) : pool(p), rows(x.rows), cols(x.cols) {
  const int all_rows = padded(rows), ld = padded(cols);
  data = pool.take(std::size_t(all_rows) * std::size_t(ld) * sizeof(bf16));
  if (all_rows == 0 || ld == 0) return;
  const dim3 grid(unsigned(ld / 128), unsigned(all_rows < 65535 ? all_rows : 65535));
  launch({grid, dim3(128), 0, s}, round_kernel, x, static_cast<bf16*>(data), all_rows, ld);
}
Rounded::~Rounded() { pool.give(data); }

std::span<const TensorVersion> cuda_tensor_ladder() {
  static const TensorVersion all[] = {{7, "wmma", by_wmma}, {8, "ldmatrix, mma.sync, cp.async", by_mma}};
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
