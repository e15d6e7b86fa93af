// Flash attention, the way back, in two versions (engine/cuda/flash_ladder.h). The mathematics:
// engine/ops/flash_attention.cpp. Weights are computed once more, tile by tile, from the L that the forward has kept:
//
//   P = e^(E - L)      dE = P ∘ (dY Vᵀ - D)      dQ += scale · dE K      dK += scale · dEᵀ Q      dV += Pᵀ dY
//
// dQ is a sum over keys, dK and dV are sums over queries, so one kernel walks along the keys and one along the queries, and
// each computes P for itself. One kernel for both would have to add atomically, in an order that nobody knows.
// Heads that share a key head are taken one after the other by the owner of its dK and dV.
#include "engine/cuda/cuda.h"
#include "engine/cuda/flash_ladder.h"
#include "engine/cuda/kernels/flash_parts.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// D_ih = Σ_c dY_ic Y_ic - dL_ih: a warp for each query and head, in double.
__global__ void row_sums_kernel(DeviceMat Y, DeviceMat dY, DeviceMat dL, DeviceMat D) {
  const int lane = threadIdx.x, h = threadIdx.y + blockDim.y * blockIdx.x, d_v = Y.cols / D.cols;
  for (int i = blockIdx.y; i < D.rows && h < D.cols; i += gridDim.y) {
    double sum = 0;
    for (int c = lane; c < d_v; c += 32) sum += double(dY(i, h * d_v + c)) * double(Y(i, h * d_v + c));
    sum = warp_sum(sum);
    if (lane == 0) D(i, h) = float(sum) - (dL.data ? dL(i, h) : 0);
  }
}

// ---- version 1: a thread for each row of a gradient, everything in global memory.
__device__ float dot(const DeviceMat& a, int i, const DeviceMat& b, int j) {
  float sum = 0;
  for (int k = 0; k < a.cols; ++k) sum += a(i, k) * b(j, k);
  return sum;
}

__global__ void backward_q_1(FlashInputs x, DeviceMat L, DeviceMat D, DeviceMat dY_all, DeviceMat dQ_all) {
  const std::ptrdiff_t me = std::ptrdiff_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (me >= std::ptrdiff_t(x.n) * x.heads * x.batch) return;
  const int i = int(me % x.n), h = int(me / x.n % x.heads), b = int(me / x.n / x.heads);
  const DeviceMat Q = part(x.Q, b, x.n, h, x.d), K = part(x.K, b, x.m, key_head(x, h), x.d);
  const DeviceMat V = part(x.V, b, x.m, key_head(x, h), x.d_v), dY = part(dY_all, b, x.n, h, x.d_v);
  const DeviceMat dQ = part(dQ_all, b, x.n, h, x.d);
  for (int j = 0; j < keys_before(x, i); ++j) {
    if (!sees(x, b, i, j)) continue;
    const float E = x.scale * dot(Q, i, K, j);
    if (E == -INFINITY) continue;
    const float P = expf(E - L(b * x.n + i, h));
    const float dE = x.scale * P * (dot(dY, i, V, j) - D(b * x.n + i, h));
    for (int k = 0; k < x.d; ++k) dQ(i, k) += dE * K(j, k);
  }
}

__global__ void backward_kv_1(FlashInputs x, DeviceMat L, DeviceMat D, DeviceMat dY_all, DeviceMat dK_all, DeviceMat dV_all) {
  const std::ptrdiff_t me = std::ptrdiff_t(blockIdx.x) * blockDim.x + threadIdx.x;
  if (me >= std::ptrdiff_t(x.m) * x.kv_heads * x.batch) return;
  const int j = int(me % x.m), g = int(me / x.m % x.kv_heads), b = int(me / x.m / x.kv_heads), shared = x.heads / x.kv_heads;
  const DeviceMat K = part(x.K, b, x.m, g, x.d), V = part(x.V, b, x.m, g, x.d_v);
  const DeviceMat dK = part(dK_all, b, x.m, g, x.d), dV = part(dV_all, b, x.m, g, x.d_v);
  for (int h = g * shared; h < (g + 1) * shared; ++h) {
    const DeviceMat Q = part(x.Q, b, x.n, h, x.d), dY = part(dY_all, b, x.n, h, x.d_v);
    for (int i = 0; i < x.n; ++i) {
      if (!sees(x, b, i, j)) continue;
      const float E = x.scale * dot(Q, i, K, j);
      if (E == -INFINITY) continue;
      const float P = expf(E - L(b * x.n + i, h));
      const float dE = x.scale * P * (dot(dY, i, V, j) - D(b * x.n + i, h));
      for (int k = 0; dV_all.data && k < x.d_v; ++k) dV(j, k) += P * dY(i, k);
      for (int k = 0; dK_all.data && k < x.d; ++k) dK(j, k) += dE * Q(i, k);
    }
  }
}

// ---- version 2: a block of 32 rows of a gradient, a thread for each; tiles of 32 rows of the other side pass through shared
// memory, where all threads read the same row at once. Own rows are an odd number of floats apart: no bank conflicts.
constexpr int kRows = 32, kCols = 32;

// One tile of scores and of dY Vᵀ for the thread's own row: query `own` against 32 keys, or key `own` against 32 queries.
__device__ inline void dots(float (&sum)[kCols], const float* own, const float* other, int width) {
#pragma unroll
  for (int c = 0; c < kCols; ++c) sum[c] = 0;
  for (int a = 0; a < width; ++a) {
    const float x = own[a];
#pragma unroll
    for (int c = 0; c < kCols; ++c) sum[c] += x * other[c * width + a];
  }
}
// to += Σ_c weight_c row_c over the pairs that see each other
__device__ inline void add_rows(float* to, const float (&weight)[kCols], unsigned seen, const float* rows, int width) {
  for (int a = 0; a < width; ++a) {
    float sum = to[a];
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
      if (seen >> c & 1) sum += weight[c] * rows[c * width + a];
    }
    to[a] = sum;
  }
}

__global__ void __launch_bounds__(kRows) backward_q_2(FlashInputs x, int tiles, DeviceMat L, DeviceMat D, DeviceMat dY, DeviceMat dQ_all) {
  const int p = x.d | 1, p_v = x.d_v | 1, t = threadIdx.x;
  float* q = dynamic_shared<float>();
  float* dq = q + kRows * p;
  float* dy = dq + kRows * p;
  float* k = dy + kRows * p_v;
  float* v = k + kCols * x.d;
  const FlashPlace at = flash_place(int(blockIdx.x), tiles, x.heads);
  const int i0 = at.tile * kRows, i = i0 + t, kv = key_head(x, at.h);
  const DeviceMat K = part(x.K, at.b, x.m, kv, x.d), V = part(x.V, at.b, x.m, kv, x.d_v), dQ = part(dQ_all, at.b, x.n, at.h, x.d);
  fetch_rows(q, p, kRows, part(x.Q, at.b, x.n, at.h, x.d), i0);
  fetch_rows(dy, p_v, kRows, part(dY, at.b, x.n, at.h, x.d_v), i0);
  fetch_rows(dq, p, kRows, dQ, i0);
  const float L_i = i < x.n ? L(at.b * x.n + i, at.h) : 0, D_i = i < x.n ? D(at.b * x.n + i, at.h) : 0;
  const int end = keys_before(x, min(x.n, i0 + kRows) - 1);
  for (int j0 = 0; j0 < end; j0 += kCols) {
    unsigned seen = 0;  // bit c: key j0 + c
    for (int c = 0; c < kCols; ++c) seen |= unsigned(sees(x, at.b, i, j0 + c)) << c;
    if (!__syncthreads_or(seen != 0)) continue;
    fetch_rows(k, x.d, kCols, K, j0);
    fetch_rows(v, x.d_v, kCols, V, j0);
    __syncthreads();  // the tiles are complete
    float E[kCols], dE[kCols];
    dots(E, q + t * p, k, x.d);
    dots(dE, dy + t * p_v, v, x.d_v);
#pragma unroll
    for (int c = 0; c < kCols; ++c) {
      E[c] *= x.scale;
      if (E[c] == -INFINITY) seen &= ~(1u << c);
      dE[c] = x.scale * expf(E[c] - L_i) * (dE[c] - D_i);
    }
    add_rows(dq + t * p, dE, seen, k, x.d);
  }
  __syncthreads();  // all rows of dq are there, and are written side by side
  for (int a = t; a < kRows * x.d; a += kRows) {
    const int r = a / x.d, c = a % x.d;
    if (i0 + r < x.n) dQ(i0 + r, c) = dq[r * p + c];
  }
}

__global__ void __launch_bounds__(kRows)
    backward_kv_2(FlashInputs x, int tiles, DeviceMat L, DeviceMat D, DeviceMat dY_all, DeviceMat dK_all, DeviceMat dV_all) {
  const int p = x.d | 1, p_v = x.d_v | 1, t = threadIdx.x, shared = x.heads / x.kv_heads;
  float* k = dynamic_shared<float>();
  float* dk = k + kRows * p;
  float* v = dk + kRows * p;
  float* dv = v + kRows * p_v;
  float* q = dv + kRows * p_v;
  float* dy = q + kCols * x.d;
  float* L_q = dy + kCols * x.d_v;
  float* D_q = L_q + kCols;
  const FlashPlace at = flash_place(int(blockIdx.x), tiles, x.kv_heads);
  const int j0 = at.tile * kRows, j = j0 + t, first = x.causal ? max(0, j0 + x.n - x.m) : 0;  // of the queries that see key j0
  const DeviceMat dK = part(dK_all, at.b, x.m, at.h, x.d), dV = part(dV_all, at.b, x.m, at.h, x.d_v);
  fetch_rows(k, p, kRows, part(x.K, at.b, x.m, at.h, x.d), j0);
  fetch_rows(v, p_v, kRows, part(x.V, at.b, x.m, at.h, x.d_v), j0);
  if (dK_all.data) fetch_rows(dk, p, kRows, dK, j0);
  if (dV_all.data) fetch_rows(dv, p_v, kRows, dV, j0);
  for (int h = at.h * shared; h < (at.h + 1) * shared; ++h) {
    const DeviceMat Q = part(x.Q, at.b, x.n, h, x.d), dY = part(dY_all, at.b, x.n, h, x.d_v);
    for (int i0 = first / kCols * kCols; i0 < x.n; i0 += kCols) {
      unsigned seen = 0;  // bit c: query i0 + c
      for (int c = 0; c < kCols; ++c) seen |= unsigned(sees(x, at.b, i0 + c, j)) << c;
      if (!__syncthreads_or(seen != 0)) continue;
      fetch_rows(q, x.d, kCols, Q, i0);
      fetch_rows(dy, x.d_v, kCols, dY, i0);
      L_q[t] = i0 + t < x.n ? L(at.b * x.n + i0 + t, h) : 0;
      D_q[t] = i0 + t < x.n ? D(at.b * x.n + i0 + t, h) : 0;
      __syncthreads();  // the tiles are complete
      float P[kCols], dE[kCols];
      dots(P, k + t * p, q, x.d);
      dots(dE, v + t * p_v, dy, x.d_v);
#pragma unroll
      for (int c = 0; c < kCols; ++c) {
        P[c] *= x.scale;
        if (P[c] == -INFINITY) seen &= ~(1u << c);
        P[c] = expf(P[c] - L_q[c]);
        dE[c] = x.scale * P[c] * (dE[c] - D_q[c]);
      }
      if (dV_all.data) add_rows(dv + t * p_v, P, seen, dy, x.d_v);
      if (dK_all.data) add_rows(dk + t * p, dE, seen, q, x.d);
    }
  }
  __syncthreads();  // all rows of dk and dv are there, and are written side by side
  for (int a = t; dK_all.data && a < kRows * x.d; a += kRows) {
    if (j0 + a / x.d < x.m) dK(j0 + a / x.d, a % x.d) = dk[a / x.d * p + a % x.d];
  }
  for (int a = t; dV_all.data && a < kRows * x.d_v; a += kRows) {
    if (j0 + a / x.d_v < x.m) dV(j0 + a / x.d_v, a % x.d_v) = dv[a / x.d_v * p_v + a % x.d_v];
  }
}

std::size_t shared_q(const FlashInputs& x) {
  return sizeof(float) * std::size_t(kRows * (2 * (x.d | 1) + (x.d_v | 1)) + kCols * (x.d + x.d_v));
}
std::size_t shared_kv(const FlashInputs& x) {
  return sizeof(float) * std::size_t(2 * kRows * ((x.d | 1) + (x.d_v | 1)) + kCols * (x.d + x.d_v + 2));
}
unsigned blocks_of_128(int rows, int heads, int batch) { return unsigned((std::ptrdiff_t(rows) * heads * batch + 127) / 128); }

}  // namespace

void flash_row_sums(Mat Y, Mat dY, Mat dL, Mat D, cudaStream_t stream) {
  if (D.rows == 0 || D.cols == 0) return;
  const dim3 grid(unsigned(ceil_div(D.cols, 4)), unsigned(D.rows < 65535 ? D.rows : 65535));
  launch({grid, dim3(32, 4), 0, stream}, row_sums_kernel, Y, dY, dL, D);
}

bool flash_backward_fits(int version, Mat Q, Mat K, Mat V, const Tiling& t) {
  return version == 1 || (version == 2 && shared_kv(FlashInputs(Q, K, V, 1, t)) <= kMostShared);
}

void flash_backward(int version, Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat L, Mat D, Mat dY, Mat dQ, Mat dK, Mat dV, cudaStream_t stream) {
  if (!flash_backward_fits(version, Q, K, V, t)) {
    throw CudaError("flash_backward: version " + std::to_string(version) + " does not fit heads of width " +
                    std::to_string(Q.cols / t.heads) + " and " + std::to_string(V.cols / t.kv_heads));
  }
  const FlashInputs x(Q, K, V, scale, t);
  if (x.n == 0 || x.m == 0) return;
  const int tiles_q = ceil_div(x.n, kRows), tiles_kv = ceil_div(x.m, kRows);
  const bool keys = dK.data || dV.data;
  if (version == 1 && dQ.data) launch({dim3(blocks_of_128(x.n, x.heads, x.batch)), dim3(128), 0, stream}, backward_q_1, x, L, D, dY, dQ);
  if (version == 1 && keys) launch({dim3(blocks_of_128(x.m, x.kv_heads, x.batch)), dim3(128), 0, stream}, backward_kv_1, x, L, D, dY, dK, dV);
  if (version == 2 && dQ.data) launch({dim3(flash_blocks(tiles_q, x)), dim3(kRows), shared_q(x), stream}, backward_q_2, x, tiles_q, L, D, dY, dQ);
  if (version == 2 && keys) launch({dim3(unsigned(tiles_kv * x.kv_heads * x.batch)), dim3(kRows), shared_kv(x), stream}, backward_kv_2, x, tiles_kv, L, D, dY, dK, dV);
}

void CudaBackend::flash_attention_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling& t, Mat Y, Mat L, Mat dY, Mat dL, Mat D, Mat, Mat dQ, Mat dK, Mat dV) {
  flash_row_sums(Y, dY, dL, D, stream);
  int version = kFlashBackwardVersions;
  while (!flash_backward_fits(version, Q, K, V, t)) --version;
  flash_backward(version, Q, K, V, scale, t, L, D, dY, dQ, dK, dV, stream);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
