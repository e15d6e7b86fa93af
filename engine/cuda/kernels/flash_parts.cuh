// What the flash kernels share: one head of one sequence, cut out of the matrices of all, and who sees whom.
#pragma once

#include "engine/backend.h"
#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {

// The inputs of a launch: Q, K, V of all sequences and heads (engine/backend.h, Tiling).
struct FlashInputs {
  DeviceMat Q, K, V;
  float scale, tau;
  int batch, heads, kv_heads;
  int n, m, d, d_v;  // queries and keys of a sequence, widths of a head
  bool causal;
  const unsigned char* keep;
  int keep_rows, masks;  // rows of one mask: 0, 1 or n

  FlashInputs(Mat q, Mat k, Mat v, float s, const Tiling& t)
      : Q(q), K(k), V(v), scale(s), tau(float(t.tau)), batch(t.batch), heads(t.heads), kv_heads(t.kv_heads), n(q.rows / t.batch),
        m(k.rows / t.batch), d(q.cols / t.heads), d_v(v.cols / t.kv_heads), causal(t.causal), keep(t.keep.data),
        keep_rows(t.keep.rows / t.masks), masks(t.masks) {}
};

// Sequence b and head h of x, whose sequences have `rows` rows and whose heads have `cols` columns.
__device__ inline DeviceMat part(DeviceMat x, int b, int rows, int h, int cols) {
  x.data += (std::ptrdiff_t(b) * rows) * x.ld + std::ptrdiff_t(h) * cols;
  x.rows = rows;
  x.cols = cols;
  return x;
}
__device__ inline int key_head(const FlashInputs& x, int h) { return h / (x.heads / x.kv_heads); }

// The number of keys that are not above the causal diagonal for query i (or any before it).
__device__ inline int keys_before(const FlashInputs& x, int i) {
  return x.causal ? max(0, min(x.m, i + 1 + x.m - x.n)) : x.m;
}
// Whether query i of sequence b uses key j. Outside the matrices nobody sees anybody.
__device__ inline bool sees(const FlashInputs& x, int b, int i, int j) {
  if (i >= x.n || j >= x.m || (x.causal && j > i + x.m - x.n)) return false;
  if (x.keep_rows == 0) return true;
  const int row = (x.masks > 1 ? b * x.keep_rows : 0) + (x.keep_rows == 1 ? 0 : i);
  return x.keep[std::ptrdiff_t(row) * x.m + j] != 0;
}
// Whether a tile of scores has none that is hidden: then nothing in it need be tested.
__device__ inline bool whole(const FlashInputs& x, int i, int rows, int j, int cols) {
  return x.keep_rows == 0 && i + rows <= x.n && j + cols <= x.m && (!x.causal || j + cols - 1 <= i + x.m - x.n);
}

// A block's number as a tile, a head and a sequence: the tiles of one head run side by side, so its keys stay in the L2.
struct FlashPlace {
  int tile, h, b;
};
__device__ inline FlashPlace flash_place(int block, int tiles, int heads) {
  return {block % tiles, block / tiles % heads, block / tiles / heads};
}
inline unsigned flash_blocks(int tiles, const FlashInputs& x) {
  const double blocks = double(tiles) * x.heads * x.batch;
  if (blocks > 2147483647.0) throw CudaError("flash_attention: " + std::to_string(blocks) + " tiles are more than a grid has blocks");
  return unsigned(blocks);
}

// e^(score - base_of(m)): while every score so far is -inf, so is m, and -inf - (-inf) would be NaN.
__device__ inline float base_of(float m) { return m == -INFINITY ? 0.0f : m; }
// The maximum after one more tile. Within tau of the old one it stays: l, acc and L all use the same, so nothing changes.
__device__ inline float next_maximum(float m, float tile, float tau) { return tile - m <= tau ? m : fmaxf(m, tile); }

constexpr std::size_t kMostShared = 160 * 1024;  // bytes of shared memory that a block may have on sm_80 and sm_90

// Rows i0, i0 + 1, ... of x in shared memory, `pitch` floats from one to the next; zeros below the last row of x.
__device__ inline void fetch_rows(float* to, int pitch, int count, const DeviceMat& x, int i0) {
  for (int k = threadIdx.x; k < count * x.cols; k += blockDim.x) {
    const int r = k / x.cols, c = k % x.cols;
    to[r * pitch + c] = i0 + r < x.rows ? x(i0 + r, c) : 0.0f;
  }
}

// Version 4 of the ladder: flash_float4.cu. Width 64 or 128, aligned rows.
void flash_float4(const FlashInputs&, Mat Y, Mat L, Mat counts, cudaStream_t);

}  // namespace GLASS_PRECISION
}  // namespace glass
