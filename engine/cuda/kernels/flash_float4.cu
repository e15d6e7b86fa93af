// Flash attention, forward, version 4 of the ladder (engine/cuda/flash_ladder.h, flash.cu): register tiles and float4.
//
// A block of 256 threads owns 64 queries and takes 64 keys at a time. Thread (ty, tx) of 16 x 16 owns the scores of queries
// 4 ty to 4 ty + 3 and keys tx, tx + 16, tx + 32, tx + 48, and of acc the same queries and columns 4 tx to 4 tx + 3 (of
// width 128 also 64 + 4 tx). So 8 reads of four floats feed 64 multiply-adds. The 16 threads of a query are half a warp.
// Scores are kept times log2 e: 2^x is one instruction of the GPU, e^x is not.
#include "engine/cuda/kernels/flash_parts.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int kTile = 64, kSide = 16, kThreads = kSide * kSide, kPitchP = kTile + 4;
constexpr float kLog2E = 1.44269504f, kLn2 = 0.69314718f;

// Rows of k are 4 floats more than a multiple of 32 apart: 8 lanes that read four floats each of 8 rows meet no bank
// twice. P is written over k once the scores are there.
template <int D>
struct Tiles {
  float q[kTile][D], k[kTile][D + 4], v[kTile][D];
};

__device__ inline void load4(float (&to)[4], const float* from) {
  const float4 x = *reinterpret_cast<const float4*>(from);
  to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
}

// 64 rows of x from row i0 on, zeros below its last.
template <int D>
__device__ void fetch(float* to, int pitch, const DeviceMat& x, int i0) {
  for (int k = threadIdx.x; k < kTile * D / 4; k += kThreads) {
    const int r = k / (D / 4), c = k % (D / 4) * 4;
    float4 value = make_float4(0, 0, 0, 0);
    if (i0 + r < x.rows) value = *reinterpret_cast<const float4*>(x.row(i0 + r) + c);
    *reinterpret_cast<float4*>(to + r * pitch + c) = value;
  }
}

// acc += P V for the queries of this thread. Unless the tile is whole, a weight of -1 marks a hidden pair.
template <int D, bool whole>
__device__ void add_values(float (&acc)[4][D / kSide], const float* P, const float* v, int ty, int tx) {
  for (int c = 0; c < kTile; c += 4) {
    float p[4][4];
#pragma unroll
    for (int a = 0; a < 4; ++a) load4(p[a], P + (4 * ty + a) * kPitchP + c);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
#pragma unroll
      for (int f = 0; f < D / 64; ++f) {
        float v4[4];
        load4(v4, v + (c + e) * D + 64 * f + 4 * tx);
#pragma unroll
        for (int a = 0; a < 4; ++a) {
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            if (whole || p[a][e] >= 0) acc[a][4 * f + k] += p[a][e] * v4[k];
          }
        }
      }
    }
  }
}

template <int D>
__global__ void __launch_bounds__(kThreads, 1) flash_4(FlashInputs x, int tiles, DeviceMat Y_all, bool four_at_once, DeviceMat L_all, float* counts) {
  Tiles<D>& s = *dynamic_shared<Tiles<D>>();
  float* P = s.k[0];
  const FlashPlace at = flash_place(int(blockIdx.x), tiles, x.heads);
  const int tx = threadIdx.x % kSide, ty = threadIdx.x / kSide, kv = key_head(x, at.h);
  const int i0 = (tiles - 1 - at.tile) * kTile;  // where the mask is causal, the last queries have most to do: they begin
  const DeviceMat K = part(x.K, at.b, x.m, kv, D), V = part(x.V, at.b, x.m, kv, D), Y = part(Y_all, at.b, x.n, at.h, D);
  const float scale = x.scale * kLog2E, tau = x.tau * kLog2E;
  fetch<D>(s.q[0], D, part(x.Q, at.b, x.n, at.h, D), i0);

  float m[4], l[4] = {}, acc[4][D / kSide] = {};
  for (int a = 0; a < 4; ++a) m[a] = -INFINITY;
  int visited = 0, rescaled = 0;
  const int end = keys_before(x, min(x.n, i0 + kTile) - 1);
  for (int j0 = 0; j0 < end; j0 += kTile) {
    const bool all = whole(x, i0, kTile, j0, kTile);
    unsigned seen = 0xffff;  // bit 4 a + c: query 4 ty + a and key tx + 16 c
    if (!all) {
      seen = 0;
      for (int k = 0; k < 16; ++k) seen |= unsigned(sees(x, at.b, i0 + 4 * ty + k / 4, j0 + tx + k % 4 * kSide)) << k;
    }
    if (!__syncthreads_or(seen != 0)) continue;  // nobody sees anybody. And: everybody is done with the tiles before
    fetch<D>(s.k[0], D + 4, K, j0);
    fetch<D>(s.v[0], D, V, j0);
    __syncthreads();  // the tiles are complete
    ++visited;

    float E[4][4] = {};
#pragma unroll 4
    for (int k = 0; k < D; k += 4) {
      float q[4][4], key[4][4];
#pragma unroll
      for (int a = 0; a < 4; ++a) load4(q[a], &s.q[4 * ty + a][k]);
#pragma unroll
      for (int c = 0; c < 4; ++c) load4(key[c], &s.k[tx + kSide * c][k]);
#pragma unroll
      for (int e = 0; e < 4; ++e) {
#pragma unroll
        for (int ac = 0; ac < 16; ++ac) E[ac / 4][ac % 4] += q[ac / 4][e] * key[ac % 4][e];
      }
    }
    __syncthreads();  // everybody is done with k: P takes its place
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      float top = -INFINITY;
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        E[a][c] = seen >> (4 * a + c) & 1 ? scale * E[a][c] : -INFINITY;
        top = fmaxf(top, E[a][c]);
      }
      for (int bits = 1; bits < kSide; bits *= 2) top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, bits));
      const float next = next_maximum(m[a], top, tau), base = base_of(next), keep = exp2f(m[a] - base);
      rescaled += m[a] != -INFINITY && keep != 1;
      m[a] = next;
      l[a] *= keep;  // of the scores of this thread
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const bool hidden = E[a][c] == -INFINITY;
        const float p = exp2f(E[a][c] - base);
        if (!hidden) l[a] += p;
        P[(4 * ty + a) * kPitchP + tx + kSide * c] = hidden && !all ? -1 : p;
      }
#pragma unroll
      for (int k = 0; k < D / kSide; ++k) acc[a][k] *= keep;
    }
    __syncwarp();  // a row of P is written and read by lanes of one warp
    if (all) {
      add_values<D, true>(acc, P, s.v[0], ty, tx);
    } else {
      add_values<D, false>(acc, P, s.v[0], ty, tx);
    }
  }
#pragma unroll
  for (int a = 0; a < 4; ++a) {
    for (int bits = 1; bits < kSide; bits *= 2) l[a] += __shfl_xor_sync(kAllLanes, l[a], bits);
    const int i = i0 + 4 * ty + a;
    if (i >= x.n) continue;
    const float over = l[a] == 0 ? 0 : 1 / l[a];
#pragma unroll
    for (int f = 0; f < D / 64; ++f) {
      float* y = &Y(i, 64 * f + 4 * tx);
      const float4 y4 = make_float4(over * acc[a][4 * f], over * acc[a][4 * f + 1], over * acc[a][4 * f + 2], over * acc[a][4 * f + 3]);
      if (four_at_once) {
        *reinterpret_cast<float4*>(y) = y4;
      } else {  // beside L, rows of Y are not aligned
        y[0] = y4.x, y[1] = y4.y, y[2] = y4.z, y[3] = y4.w;
      }
    }
    if (tx == 0) L_all(at.b * x.n + i, at.h) = l[a] == 0 ? -INFINITY : kLn2 * (m[a] + log2f(l[a]));
  }
  if (threadIdx.x == 0) atomicAdd(&counts[0], float(visited));
  if (tx == 0 && rescaled) atomicAdd(&counts[1], float(rescaled));
}

template <int D>
void launch_4(const FlashInputs& x, Mat Y, Mat L, Mat counts, cudaStream_t stream) {
  const int tiles = ceil_div(x.n, kTile);
  const bool four_at_once = aligned(Y);
  launch({dim3(flash_blocks(tiles, x)), dim3(kThreads), sizeof(Tiles<D>), stream}, flash_4<D>, x, tiles, Y, four_at_once, L, counts.data);
}

}  // namespace

void flash_float4(const FlashInputs& x, Mat Y, Mat L, Mat counts, cudaStream_t stream) {
  if (x.d == 64) {
    launch_4<64>(x, Y, L, counts, stream);
  } else {
    launch_4<128>(x, Y, L, counts, stream);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
