//   y_ij = exp(x_ij - m_i) / Σ_k exp(x_ik - m_i)      m_i = max of row i
//
// Four versions. Sums in double; a row of nothing but -inf is zeros; a NaN or +inf gives a row of NaN.
#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/cuda/rows.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// 1. A thread for each row, three passes: maximum, sum, result. Neighbouring lanes read ld apart: a sector for each.
__global__ void thread_kernel(DeviceMat x, DeviceMat y) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= y.rows) return;
  float m = -INFINITY;
  for (int j = 0; j < x.cols; ++j) m = larger(m, x(i, j));
  double sum = 0;
  for (int j = 0; j < x.cols; ++j) sum += expf(x(i, j) - m);
  for (int j = 0; j < x.cols; ++j) y(i, j) = m == -INFINITY ? 0.0f : float(expf(x(i, j) - m) / sum);
}

// 2. A warp for each row: neighbouring lanes read neighbours, and shuffles put their maxima and sums together.
__global__ void warp_kernel(DeviceMat x, DeviceMat y) {
  const int i = row_of_warp(), lane = int(threadIdx.x);
  if (i >= y.rows) return;
  float m = -INFINITY;
  for (int j = lane; j < x.cols; j += 32) m = larger(m, x(i, j));
  m = warp_larger(m);
  double sum = 0;
  for (int j = lane; j < x.cols; j += 32) sum += expf(x(i, j) - m);
  sum = warp_sum(sum);
  for (int j = lane; j < x.cols; j += 32) y(i, j) = m == -INFINITY ? 0.0f : float(expf(x(i, j) - m) / sum);
}

// 3. Online (Milakov and Gimelshein 2018): maximum and sum in one pass. A larger maximum shrinks the sum so far:
//
//   (m, s) and (m', s')  ->  M = max(m, m'),  s exp(m - M) + s' exp(m' - M)
struct Online {
  float m = -INFINITY;
  double s = 0;  // Σ exp(x - m)
};
__device__ double shrunk(const Online& a, float M) { return a.m == M || a.s == 0 ? a.s : a.s * expf(a.m - M); }
__device__ void add(Online& a, float x) {
  const float M = larger(a.m, x);
  if (M == -INFINITY) return;
  a.s = shrunk(a, M) + expf(x - M);
  a.m = M;
}
__device__ Online both(const Online& a, const Online& b) {
  const float M = larger(a.m, b.m);
  return {M, shrunk(a, M) + shrunk(b, M)};
}
__device__ Online warp_all(Online a) {
  for (int bits = 16; bits > 0; bits /= 2) {
    a = both(a, {__shfl_xor_sync(kAllLanes, a.m, bits), __shfl_xor_sync(kAllLanes, a.s, bits)});
  }
  return a;
}
__device__ float weight(float x, const Online& all) {
  return all.m == -INFINITY ? 0.0f : float(expf(x - all.m) / all.s);
}

__global__ void online_kernel(DeviceMat x, DeviceMat y) {
  const int i = row_of_warp(), lane = int(threadIdx.x);
  if (i >= y.rows) return;
  Online all;
  for (int j = lane; j < x.cols; j += 32) add(all, x(i, j));
  all = warp_all(all);
  for (int j = lane; j < x.cols; j += 32) y(i, j) = weight(x(i, j), all);
}

// 4. For long rows: a block for each, so that they are enough to fill the GPU, and four numbers at a time.
constexpr int kThreads = 256, kWarps = kThreads / 32;
__global__ void __launch_bounds__(kThreads) block_kernel(DeviceMat x, DeviceMat y, bool fours) {
  __shared__ float maxima[kWarps];
  __shared__ double sums[kWarps];
  const int t = int(threadIdx.x);
  const float* xi = x.row(int(blockIdx.x));
  float* yi = y.row(int(blockIdx.x));
  const int whole = fours ? x.cols / 4 : 0;  // groups of four; the rest one by one
  Online all;
  for (int q = t; q < whole; q += kThreads) {
    const float4 v = reinterpret_cast<const float4*>(xi)[q];
    add(all, v.x);
    add(all, v.y);
    add(all, v.z);
    add(all, v.w);
  }
  for (int j = 4 * whole + t; j < x.cols; j += kThreads) add(all, xi[j]);
  all = warp_all(all);
  if (t % 32 == 0) {
    maxima[t / 32] = all.m;
    sums[t / 32] = all.s;
  }
  __syncthreads();
  all = Online{};
  for (int w = 0; w < kWarps; ++w) all = both(all, {maxima[w], sums[w]});
  for (int q = t; q < whole; q += kThreads) {
    const float4 v = reinterpret_cast<const float4*>(xi)[q];
    reinterpret_cast<float4*>(yi)[q] =
        make_float4(weight(v.x, all), weight(v.y, all), weight(v.z, all), weight(v.w, all));
  }
  for (int j = 4 * whole + t; j < x.cols; j += kThreads) yi[j] = weight(xi[j], all);
}

bool nothing(Mat y) { return y.rows == 0 || y.cols == 0; }

void by_threads(Mat x, Mat y, cudaStream_t s) {
  if (!nothing(y)) launch({dim3(unsigned(ceil_div(y.rows, 128))), dim3(128), 0, s}, thread_kernel, x, y);
}
void by_warps(Mat x, Mat y, cudaStream_t s) {
  if (!nothing(y)) launch(warp_per_row(y.rows, s), warp_kernel, x, y);
}
void online(Mat x, Mat y, cudaStream_t s) {
  if (!nothing(y)) launch(warp_per_row(y.rows, s), online_kernel, x, y);
}
void by_blocks(Mat x, Mat y, cudaStream_t s) {
  if (nothing(y)) return;
  launch({dim3(unsigned(y.rows)), dim3(kThreads), 0, s}, block_kernel, x, y, aligned(x) && aligned(y));
}

// dx_ij += (or =) y_ij (dy_ij - Σ_k y_ik dy_ik)
__global__ void softmax_backward_kernel(DeviceMat y, DeviceMat dy, DeviceMat dx, bool accumulate) {
  const int i = row_of_warp();
  if (i >= dx.rows) return;
  double dot = 0;
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) dot += double(y(i, j)) * dy(i, j);
  dot = warp_sum(dot);
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) give(dx(i, j), float(y(i, j) * (dy(i, j) - dot)), accumulate);
}

}  // namespace

std::span<const SoftmaxVersion> cuda_softmax_ladder() {
  static const SoftmaxVersion all[] = {
      {1, "threads", by_threads}, {2, "warps", by_warps}, {3, "online", online}, {4, "blocks", by_blocks}};
  return all;
}

void CudaBackend::softmax_rows(Mat x, Mat y) {
  if (y.cols <= 1024) {
    online(x, y, stream);
  } else {
    by_blocks(x, y, stream);
  }
}

void CudaBackend::softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) {
  if (nothing(dx)) return;
  launch(warp_per_row(dx.rows, stream), softmax_backward_kernel, y, dy, dx, accumulate);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
