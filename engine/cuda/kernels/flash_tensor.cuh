// What the tensor-core kernels of flash attention share: tiles of 16-bit numbers, and the two products of a warp.
//
// A warp multiplies 16 x 16 by 16 x 8 with one instruction, mma.sync. Its 32 lanes hold the operands in parts: lane l has, of
// a 16 x 8 result, columns 2 (l % 4) and the next of rows l / 4 and l / 4 + 8. That is the layout in which it wants a left
// operand, too, two of them side by side. So P, made of scores, goes into the next product as it lies in the registers.
#pragma once

#include <cuda_pipeline.h>
#include <tensor_ops.cuh>

#include "engine/cuda/flash_ladder.h"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {

using bf16 = __nv_bfloat16;
constexpr int kWarps = 4, kOwn = 16 * kWarps;  // rows of a block: 16 for each warp
constexpr int kPad = 8;  // 16 bytes more than a multiple of 128 from row to row: ldmatrix meets no bank twice
constexpr float kLog2E = 1.44269504f, kLn2 = 0.69314718f;

template <int D>
using TileRow = bf16[D + kPad];

struct TensorInputs {
  HalfMat Q, K, V;
  float scale;
  int batch, heads, kv_heads, n, m;
  bool causal;

  TensorInputs(HalfMat q, HalfMat k, HalfMat v, float s, const Tiling& t)
      : Q(q), K(k), V(v), scale(s), batch(t.batch), heads(t.heads), kv_heads(t.kv_heads), n(q.rows / t.batch), m(k.rows / t.batch), causal(t.causal) {}
};
__device__ inline bool hidden(const TensorInputs& x, int i, int j) { return j >= x.m || i >= x.n || (x.causal && j > i + x.m - x.n); }

// Sequence b and head h.
__device__ inline HalfMat half_part(HalfMat x, int b, int rows, int h, int cols) {
  return {x.data + (std::ptrdiff_t(b) * rows) * x.ld + std::ptrdiff_t(h) * cols, rows, cols, x.ld};
}

// `Rows` rows of x from row i0 on, 16 bytes at a time and without waiting (cp.async). Zeros below the last row.
template <int Rows, int D>
__device__ void fetch_async(TileRow<D>* to, const HalfMat& x, int i0) {
  for (int k = threadIdx.x; k < Rows * D / 8; k += 32 * kWarps) {
    const int r = k / (D / 8), c = k % (D / 8) * 8;
    const bool inside = i0 + r < x.rows;
    __pipeline_memcpy_async(&to[r][c], x.data + (inside ? std::ptrdiff_t(i0 + r) * x.ld + c : 0), 16, inside ? 0 : 16);
  }
}

// A warp's 16 rows as left operands, 16 columns each.
template <int D>
__device__ void load_left(std::uint32_t (&left)[D / 16][4], const TileRow<D>* rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int d = 0; d < D / 16; ++d) tensor::load(left[d], &rows[lane % 16][d * 16 + lane / 16 * 8]);
}

// S += left · rowsᵀ, 16 x N
template <int N, int D>
__device__ void add_dots(float (&S)[N / 8][4], const std::uint32_t (&left)[D / 16][4], const TileRow<D>* rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < N / 8; ++c) {
#pragma unroll
    for (int d = 0; d < D / 16; d += 2) {
      std::uint32_t right[4];  // 8 rows, 32 columns
      tensor::load(right, &rows[c * 8 + lane % 8][d * 16 + lane / 8 * 8]);
      tensor::multiply_add(S[c], left[d], right[0], right[1]);
      tensor::multiply_add(S[c], left[d + 1], right[2], right[3]);
    }
  }
}

// acc += P · rows, P 16 x N as add_dots left it, rows N x D
template <int N, int D>
__device__ void add_weighted(float (&acc)[D / 8][4], const float (&P)[N / 8][4], const TileRow<D>* rows) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int c = 0; c < N / 16; ++c) {
    const std::uint32_t left[4] = {tensor::pack(P[2 * c][0], P[2 * c][1]), tensor::pack(P[2 * c][2], P[2 * c][3]),
                                   tensor::pack(P[2 * c + 1][0], P[2 * c + 1][1]), tensor::pack(P[2 * c + 1][2], P[2 * c + 1][3])};
#pragma unroll
    for (int d = 0; d < D / 8; d += 2) {
      std::uint32_t right[4];
      tensor::load_transposed(right, &rows[c * 16 + lane % 16][d * 8 + lane / 16 * 8]);
      tensor::multiply_add(acc[d], left, right[0], right[1]);
      tensor::multiply_add(acc[d + 1], left, right[2], right[3]);
    }
  }
}

// Whether the causal mask hides a pair of a tile whose first query is i0 and whose last key is `last`.
__device__ inline bool cut(const TensorInputs& x, int i0, int last) { return x.causal && last > i0 + x.m - x.n; }

// Whether a number of the tile is not finite. All threads of the block ask, and all get the answer.
template <int N, int D>
__device__ bool not_finite(const TileRow<D>* rows) {
  bool found = false;
  for (int k = threadIdx.x; k < N * D; k += 32 * kWarps) found = found || !isfinite(__bfloat162float(rows[k / D][k % D]));
  return __syncthreads_or(found);
}

// add_weighted, pair by pair and only those that see each other: for a tile that is cut and not finite, where a product would add
// 0 · NaN. Row k of the tile is key (or query) passing + k, `own` is this lane's first query (or key).
template <int N, int D, bool kKeysPass>
__device__ void add_seen(float (&acc)[D / 8][4], const float (&P)[N / 8][4], const TileRow<D>* rows, const TensorInputs& x, int own, int passing) {
#pragma unroll
  for (int k = 0; k < N; ++k) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const float p = __shfl_sync(kAllLanes, P[k / 8][2 * r + k % 2], k % 8 / 2, 4);  // four lanes share a row of P
      const int i = own + 8 * r, j = passing + k;
      if (kKeysPass ? hidden(x, i, j) : hidden(x, j, i)) continue;
#pragma unroll
      for (int d = 0; d < D / 4; ++d) acc[d / 2][2 * r + d % 2] += p * __bfloat162float(rows[k][d / 2 * 8 + int(threadIdx.x) % 4 * 2 + d % 2]);
    }
  }
}

// Throws CudaError unless the kernels can take these.
void require_tensor_shape(const char* what, HalfMat Q, HalfMat K, HalfMat V, const Tiling&);

}  // namespace GLASS_PRECISION
}  // namespace glass
