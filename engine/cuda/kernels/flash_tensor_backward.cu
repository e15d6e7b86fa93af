// Flash attention, the way back, on tensor cores. The formulas are in flash_backward.cu; as there, one kernel owns rows of dQ
// and walks along the keys, the other owns rows of dK and dV and walks along the queries. Each is the other with the roles of
// queries and keys exchanged: a warp owns 16 rows, makes its part of P and dE (or of Pᵀ and dEᵀ) in registers, and multiplies
// them from there with the tile that passes.
#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/kernels/flash_tensor.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// Rows of the passing side in a tile: two products of 16 x N are in registers at once.
template <int D>
constexpr int kPassing = D == 64 ? 64 : 32;

template <int D>
struct Tiles {  // own: Q and dY, passing: K and V; or own: K and V, passing: Q and dY, with L and D of the queries
  TileRow<D> own[2][kOwn], first[2][kPassing<D>], second[2][kPassing<D>];
  float L[2][kPassing<D>], D_q[2][kPassing<D>];
};

// A tile's S and dP of one warp become P and dE without the scale: P = 2^(S log2 e scale - L log2 e), dE = P ∘ (dP - D).
__device__ inline void to_weights(float& S, float& dP, float scale, float L, float D, bool is_hidden) {
  S = is_hidden || S == -INFINITY ? 0 : exp2f(S * scale - L * kLog2E);
  dP = is_hidden ? 0 : S * (dP - D);
}

// to += factor · acc for the rows of this warp
template <int D>
__device__ void add_out(float* data, int ld, int row, int rows, float factor, const float (&acc)[D / 8][4]) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int k = 0; k < D / 8 * 4; ++k) {
    const int i = row + k / 2 % 2 * 8, c = k / 4 * 8 + lane % 4 * 2 + k % 2;
    if (i < rows) data[std::ptrdiff_t(i) * ld + c] += factor * acc[k / 4][k % 4];
  }
}

template <int D>
__global__ void __launch_bounds__(32 * kWarps) backward_q(TensorInputs x, int tiles, DeviceMat L, DeviceMat D_q, HalfMat dY, DeviceMat dQ) {
  constexpr int N = kPassing<D>;
  Tiles<D>& s = *dynamic_shared<Tiles<D>>();
  const int i0 = int(blockIdx.x) % tiles * kOwn, h = int(blockIdx.x) / tiles % x.heads, b = int(blockIdx.x) / tiles / x.heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, kv = h / (x.heads / x.kv_heads), row = i0 + warp * 16 + lane / 4;
  const HalfMat K = half_part(x.K, b, x.m, kv, D), V = half_part(x.V, b, x.m, kv, D);
  const int end = x.causal ? max(0, min(x.m, i0 + kOwn + x.m - x.n)) : x.m, steps = ceil_div(end, N);
  float L_i[2], D_i[2], acc[D / 8][4] = {};
  for (int r = 0; r < 2; ++r) {
    const int i = row + 8 * r;
    L_i[r] = i < x.n ? L(b * x.n + i, h) : 0, D_i[r] = i < x.n ? D_q(b * x.n + i, h) : 0;
  }
  fetch_async<kOwn, D>(s.own[0], half_part(x.Q, b, x.n, h, D), i0);
  fetch_async<kOwn, D>(s.own[1], half_part(dY, b, x.n, h, D), i0);
  fetch_async<N, D>(s.first[0], K, 0);
  fetch_async<N, D>(s.second[0], V, 0);
  __pipeline_commit();
  for (int step = 0; step < steps; ++step) {
    const int now = step % 2, j0 = step * N;
    if (step + 1 < steps) {
      fetch_async<N, D>(s.first[now ^ 1], K, j0 + N);
      fetch_async<N, D>(s.second[now ^ 1], V, j0 + N);
      __pipeline_commit();
    }
    __pipeline_wait_prior(step + 1 < steps ? 1 : 0);
    __syncthreads();  // this tile is complete
    float S[N / 8][4] = {}, dP[N / 8][4] = {};
    std::uint32_t left[D / 16][4];
    load_left<D>(left, s.own[0] + warp * 16);
    add_dots<N, D>(S, left, s.first[now]);
    load_left<D>(left, s.own[1] + warp * 16);
    add_dots<N, D>(dP, left, s.second[now]);
#pragma unroll
    for (int k = 0; k < N / 8 * 4; ++k) {
      const int c = k / 4, e = k % 4, r = e / 2;
      const bool is_hidden = hidden(x, row + 8 * r, j0 + c * 8 + lane % 4 * 2 + e % 2);
      to_weights(S[c][e], dP[c][e], x.scale * kLog2E, L_i[r], D_i[r], is_hidden);
    }
    if (cut(x, i0, j0 + N - 1) && not_finite<N, D>(s.first[now])) {
      add_seen<N, D, true>(acc, dP, s.first[now], x, row, j0);
    } else {
      add_weighted<N, D>(acc, dP, s.first[now]);
    }
    __syncthreads();  // the tile may be overwritten
  }
  __pipeline_wait_prior(0);  // if there was no step
  add_out<D>(dQ.row(b * x.n) + h * D, dQ.ld, row, x.n, x.scale, acc);
}

template <int D>
__global__ void __launch_bounds__(32 * kWarps)
    backward_kv(TensorInputs x, int tiles, DeviceMat L, DeviceMat D_q, HalfMat dY, DeviceMat dK, DeviceMat dV) {
  constexpr int N = kPassing<D>;
  Tiles<D>& s = *dynamic_shared<Tiles<D>>();
  const int j0 = int(blockIdx.x) % tiles * kOwn, g = int(blockIdx.x) / tiles % x.kv_heads, b = int(blockIdx.x) / tiles / x.kv_heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, shared = x.heads / x.kv_heads, row = j0 + warp * 16 + lane / 4;
  const int first = x.causal ? max(0, j0 + x.n - x.m) / N : 0;  // the first tile with a query that sees key j0
  const int each = max(0, ceil_div(x.n, N) - first), steps = shared * each;  // heads that share the key head follow each other
  const auto fetch = [&](int step) {
    const int h = g * shared + step / each, i0 = (first + step % each) * N, now = step % 2;
    fetch_async<N, D>(s.first[now], half_part(x.Q, b, x.n, h, D), i0);
    fetch_async<N, D>(s.second[now], half_part(dY, b, x.n, h, D), i0);
    __pipeline_commit();
    const int i = i0 + int(threadIdx.x);
    if (int(threadIdx.x) >= N) return;
    s.L[now][threadIdx.x] = i < x.n ? L(b * x.n + i, h) : 0;
    s.D_q[now][threadIdx.x] = i < x.n ? D_q(b * x.n + i, h) : 0;
  };
  float acc_k[D / 8][4] = {}, acc_v[D / 8][4] = {};
  fetch_async<kOwn, D>(s.own[0], half_part(x.K, b, x.m, g, D), j0);
  fetch_async<kOwn, D>(s.own[1], half_part(x.V, b, x.m, g, D), j0);
  if (steps > 0) fetch(0);
  for (int step = 0; step < steps; ++step) {
    const int now = step % 2, i0 = (first + step % each) * N;
    if (step + 1 < steps) fetch(step + 1);
    __pipeline_wait_prior(step + 1 < steps ? 1 : 0);
    __syncthreads();  // this tile is complete
    float S[N / 8][4] = {}, dP[N / 8][4] = {};  // transposed: a row for each key
    std::uint32_t left[D / 16][4];
    load_left<D>(left, s.own[0] + warp * 16);
    add_dots<N, D>(S, left, s.first[now]);
    load_left<D>(left, s.own[1] + warp * 16);
    add_dots<N, D>(dP, left, s.second[now]);
#pragma unroll
    for (int k = 0; k < N / 8 * 4; ++k) {
      const int c = k / 4, e = k % 4, q = c * 8 + lane % 4 * 2 + e % 2;
      to_weights(S[c][e], dP[c][e], x.scale * kLog2E, s.L[now][q], s.D_q[now][q], hidden(x, i0 + q, row + e / 2 * 8));
    }
    const bool is_cut = cut(x, i0, j0 + kOwn - 1);
    if (is_cut && not_finite<N, D>(s.second[now])) {
      add_seen<N, D, false>(acc_v, S, s.second[now], x, row, i0);
    } else {
      add_weighted<N, D>(acc_v, S, s.second[now]);
    }
    if (is_cut && not_finite<N, D>(s.first[now])) {
      add_seen<N, D, false>(acc_k, dP, s.first[now], x, row, i0);
    } else {
      add_weighted<N, D>(acc_k, dP, s.first[now]);
    }
    __syncthreads();  // the tile may be overwritten
  }
  __pipeline_wait_prior(0);  // if there was no step
  if (dK.data) add_out<D>(dK.row(b * x.m) + g * D, dK.ld, row, x.m, x.scale, acc_k);
  if (dV.data) add_out<D>(dV.row(b * x.m) + g * D, dV.ld, row, x.m, 1, acc_v);
}

template <int D>
void launch_backward(const TensorInputs& x, Mat L, Mat D_q, HalfMat dY, Mat dQ, Mat dK, Mat dV, cudaStream_t stream) {
  const int tiles_q = ceil_div(x.n, kOwn), tiles_kv = ceil_div(x.m, kOwn);
  const Launch queries{dim3(unsigned(tiles_q * x.heads * x.batch)), dim3(32 * kWarps), sizeof(Tiles<D>), stream};
  const Launch keys{dim3(unsigned(tiles_kv * x.kv_heads * x.batch)), dim3(32 * kWarps), sizeof(Tiles<D>), stream};
  if (dQ.data) launch(queries, backward_q<D>, x, tiles_q, L, D_q, dY, dQ);
  if (dK.data || dV.data) launch(keys, backward_kv<D>, x, tiles_kv, L, D_q, dY, dK, dV);
}

}  // namespace

void flash_tensor_backward(HalfMat Q, HalfMat K, HalfMat V, Real scale, const Tiling& t, Mat L, Mat D, HalfMat dY, Mat dQ, Mat dK, Mat dV, cudaStream_t stream) {
  require_tensor_shape("flash_tensor_backward", Q, K, V, t);
  const TensorInputs x(Q, K, V, scale, t);
  if (x.n == 0 || x.m == 0) return;
  if (Q.cols / t.heads == 64) {
    launch_backward<64>(x, L, D, dY, dQ, dK, dV, stream);
  } else {
    launch_backward<128>(x, L, D, dY, dQ, dK, dV, stream);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
