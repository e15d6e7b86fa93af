// Lists of pairs: row i of one matrix with row j of another, for the listed (i, j) only. A warp has a query i and its
// pairs.
#include "engine/cuda/cuda.h"
#include "engine/cuda/reduce.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int kWarps = 4;  // of a block, each with a query of its own

struct DevicePairs {  // engine/pair_list.h
  const int* starts;
  const int* keys;
  int queries;
  explicit DevicePairs(PairList p) : starts(p.starts.data), keys(p.keys.data), queries(p.starts.n - 1) {}
};

__device__ int query_of_warp() { return int(blockIdx.x * blockDim.y + threadIdx.y); }

// e_ij = s a_i · b_j: the lanes share the channels.
__global__ void dots_kernel(DeviceMat a, DeviceMat b, DevicePairs p, float s, DeviceMat e) {
  const int i = query_of_warp(), lane = int(threadIdx.x);
  if (i >= p.queries) return;
  for (int at = p.starts[i]; at < p.starts[i + 1]; ++at) {
    float sum = 0;
    for (int c = lane; c < a.cols; c += 32) sum += a(i, c) * b(p.keys[at], c);
    sum = warp_sum(sum);
    if (lane == 0) e(at, 0) = s * sum;
  }
}

// Softmax over the pairs of each query: the lanes share the pairs. Nothing but -inf: zeros. A NaN is the maximum, and
// passes.
__global__ void softmax_kernel(DeviceMat e, DevicePairs p, DeviceMat a) {
  const int i = query_of_warp(), lane = int(threadIdx.x);
  if (i >= p.queries) return;
  const int begin = p.starts[i], end = p.starts[i + 1];
  First m = First::nothing();
  for (int at = begin + lane; at < end; at += 32) m = joined(m, First{e(at, 0), at});
  m = warp_joined(m);
  double sum = 0;
  for (int at = begin + lane; at < end; at += 32) {
    a(at, 0) = expf(e(at, 0) - m.value);
    sum += a(at, 0);
  }
  sum = warp_sum(sum);
  for (int at = begin + lane; at < end; at += 32) a(at, 0) = m.value == -INFINITY ? 0 : float(a(at, 0) / sum);
}

__global__ void softmax_backward_kernel(DeviceMat a, DeviceMat da, DevicePairs p, DeviceMat de) {
  const int i = query_of_warp(), lane = int(threadIdx.x);
  if (i >= p.queries) return;
  const int begin = p.starts[i], end = p.starts[i + 1];
  double dot = 0;
  for (int at = begin + lane; at < end; at += 32) dot += double(a(at, 0)) * da(at, 0);
  dot = warp_sum(dot);
  for (int at = begin + lane; at < end; at += 32) de(at, 0) = float(a(at, 0) * (da(at, 0) - dot));
}

// y_i += s Σ_j e_ij b_j: one thread for each number of y.
struct AddRows {
  float s;
  DeviceMat e, b;
  DevicePairs p;
  DeviceMat y;
  __device__ float operator()(int i, int c) const {
    float sum = y(i, c);
    for (int at = p.starts[i]; at < p.starts[i + 1]; ++at) sum += s * e(at, 0) * b(p.keys[at], c);
    return sum;
  }
};

// y_j += s Σ_i e_ij a_i. The list is sorted by queries, so the block of key j looks at all pairs, 32 at a time, and
// adds those that are its own, in order: no atomics, the same bits in every run.
__global__ void add_cols_kernel(float s, DeviceMat e, DevicePairs p, int pairs, DeviceMat a, DeviceMat y) {
  const int j = int(blockIdx.x), lane = int(threadIdx.x % 32);
  for (int first = 0; first < pairs; first += 32) {
    unsigned mine = __ballot_sync(kAllLanes, first + lane < pairs && p.keys[first + lane] == j);
    for (; mine; mine &= mine - 1) {
      const int at = first + __ffs(int(mine)) - 1;
      int i = 0;  // its query is the last that starts at or before it
      for (int end = p.queries; end - i > 1;) {
        const int middle = i + (end - i) / 2;
        if (p.starts[middle] <= at)
          i = middle;
        else
          end = middle;
      }
      for (int c = int(threadIdx.x); c < y.cols; c += int(blockDim.x)) y(j, c) += s * e(at, 0) * a(i, c);
    }
  }
}

__global__ void spread_kernel(DeviceMat e, DevicePairs p, DeviceMat y) {
  const int i = query_of_warp();
  if (i >= p.queries) return;
  for (int at = p.starts[i] + int(threadIdx.x); at < p.starts[i + 1]; at += 32) y(i, p.keys[at]) = e(at, 0);
}

Launch for_queries(DevicePairs p, cudaStream_t stream) {
  return {dim3(unsigned(ceil_div(p.queries, kWarps))), dim3(32, kWarps), 0, stream};
}

}  // namespace

void CudaBackend::pair_dots(Mat a, Mat b, PairList p, Real s, Mat e) {
  const DevicePairs pairs(p);
  if (pairs.queries > 0) launch(for_queries(pairs, stream), dots_kernel, a, b, pairs, s, e);
}
void CudaBackend::pair_softmax(Mat e, PairList p, Mat a) {
  const DevicePairs pairs(p);
  if (pairs.queries > 0) launch(for_queries(pairs, stream), softmax_kernel, e, pairs, a);
}
void CudaBackend::pair_softmax_backward(Mat a, Mat da, PairList p, Mat de) {
  const DevicePairs pairs(p);
  if (pairs.queries > 0) launch(for_queries(pairs, stream), softmax_backward_kernel, a, da, pairs, de);
}
void CudaBackend::add_pair_rows(Real s, Mat e, PairList p, Mat b, Mat y) {
  each(y, AddRows{s, e, b, DevicePairs(p), y}, stream);
}
void CudaBackend::add_pair_cols(Real s, Mat e, PairList p, Mat a, Mat y) {
  if (y.rows == 0 || y.cols == 0) return;
  const dim3 block(y.cols <= 32 ? 32 : y.cols <= 64 ? 64 : 128);
  launch({dim3(unsigned(y.rows)), block, 0, stream}, add_cols_kernel, s, e, DevicePairs(p), p.keys.n, a, y);
}
void CudaBackend::spread_pairs(Mat e, PairList p, Mat y) {
  const DevicePairs pairs(p);
  fill(y, 0);
  if (pairs.queries > 0) launch(for_queries(pairs, stream), spread_kernel, e, pairs, y);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
