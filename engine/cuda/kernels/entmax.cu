// Weights with exact zeros: engine/cpu/entmax.cpp has the formulas and takes the same steps.
//
// A warp for each row. The support grows from the largest entry down: the warp looks for the largest that is not taken
// yet (32 candidates by shuffles), and each lane knows the sums so far. k entries take k looks at the row.
#include "engine/cuda/cuda.h"
#include "engine/cuda/rows.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Above {  // the entries above the threshold
  int k = 0;
  double sum = 0, squares = 0;
  __device__ void add(double z) { ++k, sum += z, squares += z * z; }
};

template <bool kSquares>
__device__ double threshold(const Above& a) {
  if (!kSquares) return (a.sum - 1) / a.k;
  const double mean = a.sum / a.k, room = 1.0 / a.k - (a.squares / a.k - mean * mean);
  return mean - sqrt(room > 0 ? room : 0.0);
}

struct Best {
  float value;
  int column;  // -1: none
};

__device__ Best better(Best a, Best b) {  // the larger; of equal ones the first
  if (b.column < 0) return a;
  return a.column < 0 || b.value > a.value || (b.value == a.value && b.column < a.column) ? b : a;
}

// The first of the largest finite entries whose `support` is `taken`, for every lane.
__device__ Best largest(const float* x, const float* support, float taken, int cols) {
  Best best{0, -1};
  for (int j = int(threadIdx.x); j < cols; j += 32) {
    if (support[j] == taken && isfinite(x[j])) best = better(best, {x[j], j});
  }
  for (int bits = 16; bits > 0; bits /= 2) {
    best = better(best, {__shfl_xor_sync(kAllLanes, best.value, bits), __shfl_xor_sync(kAllLanes, best.column, bits)});
  }
  return best;
}

// y_ij = max(factor (x_ij - m_i) - τ_i, 0)
template <bool kSquares>
__global__ void above_threshold_kernel(DeviceMat x, bool decide, DeviceMat support, DeviceMat y) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const double factor = kSquares ? 0.5 : 1.0;
  const float* xi = x.row(i);
  float* si = support.row(i);
  const bool broken = !(row_maximum(xi, x.cols) < INFINITY);  // +inf or NaN: no threshold
  for (int j = int(threadIdx.x); j < x.cols; j += 32) y(i, j) = broken ? NAN : 0.0f;
  if (broken) return;
  if (decide) {
    for (int j = int(threadIdx.x); j < x.cols; j += 32) si[j] = 0;
    const Best first = largest(xi, si, 0, x.cols);
    Above above;
    for (Best b = first; b.column >= 0; b = largest(xi, si, 0, x.cols)) {
      const double z = factor * (double(b.value) - first.value);
      if (above.k > 0 && z <= threshold<kSquares>(above)) break;
      if (b.column % 32 == int(threadIdx.x)) si[b.column] = 1;  // the lane that reads it, too
      above.add(z);
    }
  }
  const Best first = largest(xi, si, 1, x.cols);
  if (first.column < 0) return;  // nothing but -inf: zeros
  Above above;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) {
    if (si[j] != 0) above.add(factor * (double(xi[j]) - first.value));
  }
  above.k = warp_sum(above.k);
  above.sum = warp_sum(above.sum);
  above.squares = warp_sum(above.squares);
  const double tau = threshold<kSquares>(above);
  for (int j = int(threadIdx.x); j < x.cols; j += 32) {
    if (si[j] != 0) y(i, j) = float(factor * (double(xi[j]) - first.value) - tau);
  }
}

// dx_ij += g_ij (dy_ij - Σ_k g_ik dy_ik / Σ_k g_ik)
__global__ void weighted_mean_backward_kernel(DeviceMat g, DeviceMat dy, DeviceMat dx) {
  const int i = row_of_warp();
  if (i >= dx.rows) return;
  double sum = 0, dot = 0;
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) sum += g(i, j), dot += double(g(i, j)) * dy(i, j);
  sum = warp_sum(sum);
  dot = warp_sum(dot);
  if (sum == 0) return;
  for (int j = int(threadIdx.x); j < dx.cols; j += 32) dx(i, j) += float(g(i, j) * (dy(i, j) - dot / sum));
}

}  // namespace

void CudaBackend::sparsemax_rows(Mat x, bool decide, Mat support, Mat y) {
  if (x.rows == 0 || x.cols == 0) return;
  launch(warp_per_row(x.rows, stream), above_threshold_kernel<false>, x, decide, support, y);
}

void CudaBackend::entmax15_rows(Mat x, bool decide, Mat support, Mat g) {
  if (x.rows == 0 || x.cols == 0) return;
  launch(warp_per_row(x.rows, stream), above_threshold_kernel<true>, x, decide, support, g);
}

void CudaBackend::weighted_mean_backward(Mat g, Mat dy, Mat dx) {
  if (dx.rows == 0 || dx.cols == 0) return;
  launch(warp_per_row(dx.rows, stream), weighted_mean_backward_kernel, g, dy, dx);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
