// Flash attention, forward, in four versions (engine/cuda/flash_ladder.h). The mathematics: engine/ops/flash_attention.cpp.
//
//   for each tile of keys:   m' = max(m, rowmax E)    P = e^(E - m')    a = e^(m - m')    l = a l + rowsum P    acc = a acc + P V
//   at the end:              Y = acc / l              L = m + ln l
//
// A hidden pair is left out by a test, never by a product with 0: what it hides may be NaN. Dao 2023, "FlashAttention-2".
#include "engine/cuda/cuda.h"
#include "engine/cuda/flash_ladder.h"
#include "engine/cuda/kernels/flash_parts.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// ---- version 1: a thread for each query. acc is the row of Y itself. Neighbouring threads read rows that are far apart.
__global__ void flash_1(FlashInputs x, DeviceMat Y_all, DeviceMat L_all, float* counts) {
  const std::ptrdiff_t me = std::ptrdiff_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (me >= std::ptrdiff_t(x.n) * x.heads * x.batch) return;
  const int i = int(me % x.n), h = int(me / x.n % x.heads), b = int(me / x.n / x.heads);
  const DeviceMat Q = part(x.Q, b, x.n, h, x.d), K = part(x.K, b, x.m, key_head(x, h), x.d);
  const DeviceMat V = part(x.V, b, x.m, key_head(x, h), x.d_v), Y = part(Y_all, b, x.n, h, x.d_v);
  float m = -INFINITY, l = 0;
  int visited = 0, rescaled = 0;
  for (int c = 0; c < x.d_v; ++c) Y(i, c) = 0;
  for (int j = 0; j < keys_before(x, i); ++j) {
    if (!sees(x, b, i, j)) continue;
    ++visited;
    float dot = 0;
    for (int k = 0; k < x.d; ++k) dot += Q(i, k) * K(j, k);
    const float E = x.scale * dot;
    if (E == -INFINITY) continue;
    const float next = next_maximum(m, E, x.tau), base = base_of(next);
    const float a = expf(m - base), P = expf(E - base);
    rescaled += m != -INFINITY && a != 1;
    m = next;
    l = a * l + P;
    for (int c = 0; c < x.d_v; ++c) Y(i, c) = a * Y(i, c) + P * V(j, c);
  }
  for (int c = 0; c < x.d_v; ++c) Y(i, c) = l == 0 ? 0 : Y(i, c) / l;
  L_all(b * x.n + i, h) = l == 0 ? -INFINITY : m + logf(l);
  atomicAdd(&counts[0], float(visited));  // whole numbers: exact in any order, up to 2^24
  atomicAdd(&counts[1], float(rescaled));
}

// ---- version 2: a block of 64 queries and tiles of 32 keys, a thread for each query. A key that is in shared memory is
// read by all 64 in one broadcast. Rows of q and acc are an odd number of floats apart, so 32 of them lie in 32 banks.
constexpr int kRows2 = 64, kCols2 = 32;

__global__ void __launch_bounds__(kRows2, 1) flash_2(FlashInputs x, int tiles, DeviceMat Y_all, DeviceMat L_all, float* counts) {
  const int q_pitch = x.d | 1, y_pitch = x.d_v | 1, t = threadIdx.x;
  float* q = dynamic_shared<float>();
  float* acc = q + kRows2 * q_pitch;
  float* k = acc + kRows2 * y_pitch;
  float* v = k + kCols2 * x.d;
  const FlashPlace at = flash_place(int(blockIdx.x), tiles, x.heads);
  const int i0 = at.tile * kRows2, i = i0 + t, kv = key_head(x, at.h);
  const DeviceMat K = part(x.K, at.b, x.m, kv, x.d), V = part(x.V, at.b, x.m, kv, x.d_v), Y = part(Y_all, at.b, x.n, at.h, x.d_v);
  fetch_rows(q, q_pitch, kRows2, part(x.Q, at.b, x.n, at.h, x.d), i0);
  for (int c = 0; c < x.d_v; ++c) acc[t * y_pitch + c] = 0;

  float m = -INFINITY, l = 0;
  int visited = 0, rescaled = 0;
  const int end = keys_before(x, min(x.n, i0 + kRows2) - 1);
  for (int j0 = 0; j0 < end; j0 += kCols2) {
    unsigned seen = 0;  // bit c: key j0 + c
    for (int c = 0; c < kCols2; ++c) seen |= unsigned(sees(x, at.b, i, j0 + c)) << c;
    if (!__syncthreads_or(seen != 0)) continue;  // nobody sees anybody. And: everybody is done with the tiles before
    fetch_rows(k, x.d, kCols2, K, j0);
    fetch_rows(v, x.d_v, kCols2, V, j0);
    __syncthreads();  // the tiles are complete
    ++visited;

    float P[kCols2] = {};
    for (int a = 0; a < x.d; ++a) {
      const float q_a = q[t * q_pitch + a];
#pragma unroll
      for (int c = 0; c < kCols2; ++c) P[c] += q_a * k[c * x.d + a];
    }
    float top = -INFINITY;
#pragma unroll
    for (int c = 0; c < kCols2; ++c) {
      P[c] *= x.scale;
      if (P[c] == -INFINITY) seen &= ~(1u << c);
      if (seen >> c & 1) top = fmaxf(top, P[c]);
    }
    const float next = next_maximum(m, top, x.tau), base = base_of(next), a = expf(m - base);
    rescaled += m != -INFINITY && a != 1;
    m = next;
    l *= a;
#pragma unroll
    for (int c = 0; c < kCols2; ++c) {
      P[c] = seen >> c & 1 ? expf(P[c] - base) : 0;
      l += P[c];
    }
    for (int k_v = 0; k_v < x.d_v; ++k_v) {
      float y = a * acc[t * y_pitch + k_v];
#pragma unroll
      for (int c = 0; c < kCols2; ++c) {
        if (seen >> c & 1) y += P[c] * v[c * x.d_v + k_v];
      }
      acc[t * y_pitch + k_v] = y;
    }
  }
  for (int c = 0; c < x.d_v; ++c) acc[t * y_pitch + c] = l == 0 ? 0 : acc[t * y_pitch + c] / l;
  if (i < x.n) L_all(at.b * x.n + i, at.h) = l == 0 ? -INFINITY : m + logf(l);
  __syncthreads();  // all rows of acc are there, and are written side by side
  for (int k_v = t; k_v < kRows2 * x.d_v; k_v += kRows2) {
    const int r = k_v / x.d_v, c = k_v % x.d_v;
    if (i0 + r < x.n) Y(i0 + r, c) = acc[r * y_pitch + c];
  }
  if (t == 0) atomicAdd(&counts[0], float(visited));
  if (rescaled) atomicAdd(&counts[1], float(rescaled));
}

std::size_t shared_2(const FlashInputs& x) {
  return sizeof(float) * (std::size_t(kRows2) * std::size_t((x.d | 1) + (x.d_v | 1)) + std::size_t(kCols2) * std::size_t(x.d + x.d_v));
}

// ---- version 3: four neighbouring lanes share a query. Each has every fourth score and every fourth column of acc, in
// registers; maximum and sum go round by shuffles. P is exchanged within a warp. -1 stands for a hidden pair.
constexpr int kRows3 = 32, kCols3 = 32, kTeam = 4;

template <int D>
struct Tiles3 {  // the padding keeps the rows that a warp reads at once in different banks
  float q[kRows3][D + 1], k[kCols3][D + 1], v[kCols3][D], P[kRows3][kCols3 + 4];
};

template <int D>
__global__ void __launch_bounds__(kRows3* kTeam)
    flash_3(FlashInputs x, int tiles, DeviceMat Y_all, DeviceMat L_all, float* counts) {
  Tiles3<D>& s = *dynamic_shared<Tiles3<D>>();
  const FlashPlace at = flash_place(int(blockIdx.x), tiles, x.heads);
  const int r = threadIdx.x / kTeam, lane = threadIdx.x % kTeam, i0 = at.tile * kRows3, i = i0 + r, kv = key_head(x, at.h);
  const DeviceMat K = part(x.K, at.b, x.m, kv, D), V = part(x.V, at.b, x.m, kv, D), Y = part(Y_all, at.b, x.n, at.h, D);
  fetch_rows(s.q[0], D + 1, kRows3, part(x.Q, at.b, x.n, at.h, D), i0);

  float m = -INFINITY, l = 0, acc[D / kTeam] = {};
  int visited = 0, rescaled = 0;
  const int end = keys_before(x, min(x.n, i0 + kRows3) - 1);
  for (int j0 = 0; j0 < end; j0 += kCols3) {
    unsigned seen = 0;  // bit c: key j0 + lane + 4 c
    for (int c = 0; c < kCols3 / kTeam; ++c) seen |= unsigned(sees(x, at.b, i, j0 + lane + kTeam * c)) << c;
    if (!__syncthreads_or(seen != 0)) continue;
    fetch_rows(s.k[0], D + 1, kCols3, K, j0);
    fetch_rows(s.v[0], D, kCols3, V, j0);
    __syncthreads();  // the tiles are complete
    ++visited;

    float P[kCols3 / kTeam], top = -INFINITY;
#pragma unroll
    for (int c = 0; c < kCols3 / kTeam; ++c) {
      float dot = 0;
      for (int a = 0; a < D; ++a) dot += s.q[r][a] * s.k[lane + kTeam * c][a];
      P[c] = seen >> c & 1 ? x.scale * dot : -INFINITY;
      top = fmaxf(top, P[c]);
    }
    for (int bits = 1; bits < kTeam; bits *= 2) top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, bits));
    const float next = next_maximum(m, top, x.tau), base = base_of(next), a = expf(m - base);
    rescaled += m != -INFINITY && a != 1;
    m = next;
    l *= a;  // of the scores of this lane
#pragma unroll
    for (int c = 0; c < kCols3 / kTeam; ++c) {
      const bool hidden = P[c] == -INFINITY;
      const float p = expf(P[c] - base);
      if (!hidden) l += p;
      s.P[r][lane + kTeam * c] = hidden ? -1 : p;
    }
    __syncwarp();  // a row of P is written and read by lanes of one warp
#pragma unroll
    for (int k = 0; k < D / kTeam; ++k) acc[k] *= a;
    for (int c = 0; c < kCols3; ++c) {
      const float p = s.P[r][c];
#pragma unroll
      for (int k = 0; k < D / kTeam; ++k) {
        if (p >= 0) acc[k] += p * s.v[c][lane + kTeam * k];
      }
    }
  }
  for (int bits = 1; bits < kTeam; bits *= 2) l += __shfl_xor_sync(kAllLanes, l, bits);
  if (threadIdx.x == 0) atomicAdd(&counts[0], float(visited));
  if (i >= x.n) return;
#pragma unroll
  for (int k = 0; k < D / kTeam; ++k) Y(i, lane + kTeam * k) = l == 0 ? 0 : acc[k] / l;
  if (lane == 0) L_all(at.b * x.n + i, at.h) = l == 0 ? -INFINITY : m + logf(l);
  if (lane == 0 && rescaled) atomicAdd(&counts[1], float(rescaled));
}

// ---- version 4: flash_float4.cu

template <int D>
void launch_3(const FlashInputs& x, Mat Y, Mat L, Mat counts, cudaStream_t stream) {
  const int tiles = ceil_div(x.n, kRows3);
  launch({dim3(flash_blocks(tiles, x)), dim3(kRows3 * kTeam), sizeof(Tiles3<D>), stream}, flash_3<D>, x, tiles, Y, L, counts.data);
}

}  // namespace

bool flash_fits(int version, Mat Q, Mat K, Mat V, const Tiling& t) {
  const FlashInputs x(Q, K, V, 1, t);
  const bool width = (x.d == 64 || x.d == 128) && x.d_v == x.d;
  switch (version) {
    case 1: return true;
    case 2: return shared_2(x) <= kMostShared;
    case 3: return width;
    case 4: return width && aligned(Q) && aligned(K) && aligned(V);
    default: return false;
  }
}

void flash_forward(int version, Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat Y, Mat L, Mat counts, cudaStream_t stream) {
  if (!flash_fits(version, Q, K, V, t)) {
    throw CudaError("flash_forward: version " + std::to_string(version) + " does not fit heads of width " +
                    std::to_string(Q.cols / t.heads) + " and " + std::to_string(V.cols / t.kv_heads));
  }
  if (L.rows == 0 || L.cols == 0) return;
  const FlashInputs x(Q, K, V, scale, t);
  const int tiles = ceil_div(x.n, kRows2);
  const std::ptrdiff_t queries = std::ptrdiff_t(x.n) * x.heads * x.batch;
  if (version == 1) launch({dim3(unsigned((queries + 127) / 128)), dim3(128), 0, stream}, flash_1, x, Y, L, counts.data);
  if (version == 2) launch({dim3(flash_blocks(tiles, x)), dim3(kRows2), shared_2(x), stream}, flash_2, x, tiles, Y, L, counts.data);
  if (version == 3 && x.d == 64) launch_3<64>(x, Y, L, counts, stream);
  if (version == 3 && x.d == 128) launch_3<128>(x, Y, L, counts, stream);
  if (version == 4) flash_float4(x, Y, L, counts, stream);
}

void CudaBackend::flash_attention(Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat, Mat, Mat Y, Mat L, Mat counts) {
  fill(counts, 0);
  int version = kFlashVersions;
  while (!flash_fits(version, Q, K, V, t)) --version;
  flash_forward(version, Q, K, V, scale, t, Y, L, counts, stream);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
