// Flash attention, forward, on tensor cores: the scheme of FlashAttention-2 (Dao 2023).
//
// A block of 4 warps owns 64 queries, a warp 16 of them. Scores, weights and acc never leave the registers of the warp. While
// it works on one tile of 64 keys and values, the next is already on its way into the other half of the shared memory.
#include "engine/cuda/each.cuh"
#include "engine/cuda/kernels/flash_tensor.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int kKeys = 64;

template <int D>
struct Tiles {
  TileRow<D> q[kOwn], k[2][kKeys], v[2][kKeys];
};

template <int D>  // so many blocks at a time leave registers enough: nothing is spilled
__global__ void __launch_bounds__(32 * kWarps, D == 64 ? 3 : 2) flash_tensor_kernel(TensorInputs x, int tiles, HalfMat Y_all, DeviceMat L) {
  Tiles<D>& s = *dynamic_shared<Tiles<D>>();
  const int tile = tiles - 1 - int(blockIdx.x) % tiles, h = int(blockIdx.x) / tiles % x.heads, b = int(blockIdx.x) / tiles / x.heads;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, i0 = tile * kOwn, kv = h / (x.heads / x.kv_heads);
  const int row = i0 + warp * 16 + lane / 4;  // this lane has parts of this query and of row + 8
  const float scale = x.scale * kLog2E;       // scores times log2 e: 2^x is one instruction
  const HalfMat K = half_part(x.K, b, x.m, kv, D), V = half_part(x.V, b, x.m, kv, D), Y = half_part(Y_all, b, x.n, h, D);
  const int end = x.causal ? max(0, min(x.m, i0 + kOwn + x.m - x.n)) : x.m, steps = ceil_div(end, kKeys);

  fetch_async<kOwn, D>(s.q, half_part(x.Q, b, x.n, h, D), i0);
  fetch_async<kKeys, D>(s.k[0], K, 0);
  fetch_async<kKeys, D>(s.v[0], V, 0);
  __pipeline_commit();

  std::uint32_t q[D / 16][4];
  float acc[D / 8][4] = {}, m[2] = {-INFINITY, -INFINITY}, l[2] = {0, 0};
  for (int step = 0; step < steps; ++step) {
    const int now = step % 2, j0 = step * kKeys;
    if (step + 1 < steps) {
      fetch_async<kKeys, D>(s.k[now ^ 1], K, j0 + kKeys);
      fetch_async<kKeys, D>(s.v[now ^ 1], V, j0 + kKeys);
      __pipeline_commit();
    }
    __pipeline_wait_prior(step + 1 < steps ? 1 : 0);
    __syncthreads();  // this tile is complete
    if (step == 0) load_left<D>(q, s.q + warp * 16);

    float S[kKeys / 8][4] = {};
    add_dots<kKeys, D>(S, q, s.k[now]);
    if (j0 + kKeys > x.m || (x.causal && j0 + kKeys - 1 > i0 + x.m - x.n)) {
#pragma unroll
      for (int c = 0; c < kKeys / 8; ++c) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          if (hidden(x, row + k / 2 * 8, j0 + c * 8 + lane % 4 * 2 + k % 2)) S[c][k] = -INFINITY;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < 2; ++r) {  // this lane's two queries
      float top = m[r];
#pragma unroll
      for (int c = 0; c < kKeys / 8; ++c) {
        S[c][2 * r] *= scale, S[c][2 * r + 1] *= scale;
        top = fmaxf(top, fmaxf(S[c][2 * r], S[c][2 * r + 1]));
      }
      for (int bits = 1; bits < 4; bits *= 2) top = fmaxf(top, __shfl_xor_sync(kAllLanes, top, bits));  // four lanes share a query
      const float base = top == -INFINITY ? 0 : top, a = exp2f(m[r] - base);
      m[r] = top, l[r] *= a;
#pragma unroll
      for (int d = 0; d < D / 8; ++d) acc[d][2 * r] *= a, acc[d][2 * r + 1] *= a;
#pragma unroll
      for (int c = 0; c < kKeys / 8; ++c) {
        S[c][2 * r] = exp2f(S[c][2 * r] - base), S[c][2 * r + 1] = exp2f(S[c][2 * r + 1] - base);
        l[r] += S[c][2 * r] + S[c][2 * r + 1];
      }
    }
    if (cut(x, i0, j0 + kKeys - 1) && not_finite<kKeys, D>(s.v[now])) {
      add_seen<kKeys, D, true>(acc, S, s.v[now], x, row, j0);
    } else {
      add_weighted<kKeys, D>(acc, S, s.v[now]);
    }
    __syncthreads();  // the tile may be overwritten
  }
  __pipeline_wait_prior(0);  // if there was no step
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    for (int bits = 1; bits < 4; bits *= 2) l[r] += __shfl_xor_sync(kAllLanes, l[r], bits);
    const int i = row + 8 * r;
    if (i >= x.n) continue;
    const float over = l[r] == 0 ? 0 : 1 / l[r];
#pragma unroll
    for (int d = 0; d < D / 8; ++d) {
      std::uint32_t* to = reinterpret_cast<std::uint32_t*>(Y.data + std::ptrdiff_t(i) * Y.ld + d * 8 + lane % 4 * 2);
      *to = tensor::pack(acc[d][2 * r] * over, acc[d][2 * r + 1] * over);
    }
    if (lane % 4 == 0) L(b * x.n + i, h) = l[r] == 0 ? -INFINITY : kLn2 * (m[r] + log2f(l[r]));
  }
}

__global__ void to_half_kernel(DeviceMat x, HalfMat y) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  for (int i = blockIdx.y; i < x.rows && j < x.cols; i += gridDim.y) y.data[std::ptrdiff_t(i) * y.ld + j] = __float2bfloat16(x(i, j));
}
struct FromHalf {
  HalfMat x;
  __device__ float operator()(int i, int j) const { return __bfloat162float(x.data[std::ptrdiff_t(i) * x.ld + j]); }
};

template <int D>
void launch_tensor(const TensorInputs& x, HalfMat Y, Mat L, cudaStream_t stream) {
  const int tiles = ceil_div(x.n, kOwn);
  launch({dim3(unsigned(tiles * x.heads * x.batch)), dim3(32 * kWarps), sizeof(Tiles<D>), stream}, flash_tensor_kernel<D>, x, tiles, Y, L);
}

}  // namespace

void to_half(Mat x, HalfMat y, cudaStream_t stream) {
  if (x.rows == 0 || x.cols == 0) return;
  launch({dim3(unsigned(ceil_div(x.cols, 128)), at_most(x.rows, 65535)), dim3(128), 0, stream}, to_half_kernel, x, y);
}
void from_half(HalfMat x, Mat y, cudaStream_t stream) { each(y, FromHalf{x}, stream); }

static bool aligned(HalfMat x) { return reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0 && x.ld % 8 == 0; }

void require_tensor_shape(const char* what, HalfMat Q, HalfMat K, HalfMat V, const Tiling& t) {
  const int d = Q.cols / t.heads, d_v = V.cols / t.kv_heads;
  if ((d != 64 && d != 128) || d_v != d) {
    throw CudaError(std::string(what) + ": heads must be 64 or 128 wide, not " + std::to_string(d) + " and " + std::to_string(d_v));
  }
  if (!aligned(Q) || !aligned(K) || !aligned(V)) throw CudaError(std::string(what) + ": every row must begin at a multiple of 16 bytes");
  if (t.keep.rows) throw CudaError(std::string(what) + ": no mask but the causal one");
}

void flash_tensor(HalfMat Q, HalfMat K, HalfMat V, Real scale, const Tiling& t, HalfMat Y, Mat L, cudaStream_t stream) {
  require_tensor_shape("flash_tensor", Q, K, V, t);
  if (L.rows == 0 || L.cols == 0) return;
  const TensorInputs x(Q, K, V, scale, t);
  if (Q.cols / t.heads == 64) {
    launch_tensor<64>(x, Y, L, stream);
  } else {
    launch_tensor<128>(x, Y, L, stream);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
