//   u_ij  = dy_ij g_j
//   dx_ij += r_i (u_ij - mean_k u_ik - x̂_ij mean_k u_ik x̂_ik)      dg_j += Σ_i dy_ij x̂_ij      db_j += Σ_i dy_ij
//
// dx goes along rows: a warp for each. dg and db go down columns, in two passes. First, each block adds up some rows of
// 32 columns and writes its sum to scratch memory; then each column adds up the sums of its blocks, in their order. So
// the same numbers give the same bits. (rms_norm: the same with μ = 0, without mean u and db.)
#include "engine/cuda/cuda.h"
#include "engine/cuda/ladder.h"
#include "engine/cuda/row_moments.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

template <bool kCentred>  // layer norm: yes. rms_norm: no
__global__ void rows_kernel(DeviceMat x, DeviceMat gain, DeviceMat rstd, DeviceMat dy, DeviceMat dx, double* means) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const double m = kCentred ? row_mean(x, i) : 0, r = rstd(i, 0);
  if (threadIdx.x == 0) means[i] = m;  // the columns need it
  if (!dx.data) return;
  double mean_u = 0, mean_ux = 0;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) {
    const double u = double(dy(i, j)) * gain(0, j);
    mean_u += u;
    mean_ux += u * ((x(i, j) - m) * r);
  }
  mean_u = kCentred ? warp_sum(mean_u) / x.cols : 0;
  mean_ux = warp_sum(mean_ux) / x.cols;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) {
    const double u = double(dy(i, j)) * gain(0, j), xhat = (x(i, j) - m) * r;
    dx(i, j) += float(r * (u - mean_u - xhat * mean_ux));
  }
}

// Columns, version 1: every block adds its sums to the result at once. A lesson: atomicAdd loses no update, but the
// order of the blocks is anybody's, and a float sum depends on it. So the last bits change from run to run.
constexpr int kRowsOfSum = 32;
__global__ void atomic_columns_kernel(DeviceMat x, DeviceMat rstd, DeviceMat dy, const double* means, float* dgain,
                                      float* dbias) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= x.cols) return;
  for (int i0 = int(blockIdx.y) * kRowsOfSum; i0 < x.rows; i0 += int(gridDim.y) * kRowsOfSum) {
    float gain = 0, bias = 0;
    for (int i = i0; i < i0 + kRowsOfSum && i < x.rows; ++i) {
      gain += float(dy(i, j) * ((x(i, j) - means[i]) * rstd(i, 0)));
      bias += dy(i, j);
    }
    if (dgain) atomicAdd(&dgain[j], gain);
    if (dbias) atomicAdd(&dbias[j], bias);
  }
}

// Version 2: two passes.
constexpr int kColumns = 32, kRows = 8;  // threads of a block: columns side by side, rows taken in turn

struct Partial {  // sums over the rows of a block, one row of numbers for each block: blocks x cols
  double *gain, *bias;
};

__global__ void partial_columns_kernel(DeviceMat x, DeviceMat rstd, DeviceMat dy, const double* means, Partial p) {
  __shared__ double gains[kRows][kColumns], biases[kRows][kColumns];
  const int c = int(threadIdx.x), r = int(threadIdx.y), j = int(blockIdx.x) * kColumns + c;
  double gain = 0, bias = 0;
  if (j < x.cols) {
    for (int i = int(blockIdx.y) * kRows + r; i < x.rows; i += int(gridDim.y) * kRows) {
      gain += dy(i, j) * ((x(i, j) - means[i]) * rstd(i, 0));
      bias += dy(i, j);
    }
  }
  gains[r][c] = gain;
  biases[r][c] = bias;
  __syncthreads();
  if (r != 0 || j >= x.cols) return;
  for (int q = 1; q < kRows; ++q) gain += gains[q][c], bias += biases[q][c];
  const std::ptrdiff_t at = std::ptrdiff_t(blockIdx.y) * x.cols + j;
  p.gain[at] = gain;
  p.bias[at] = bias;
}

__global__ void columns_kernel(Partial p, int blocks, int cols, float* dgain, float* dbias) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= cols) return;
  double gain = 0, bias = 0;
  for (int b = 0; b < blocks; ++b) {
    gain += p.gain[std::ptrdiff_t(b) * cols + j];
    bias += p.bias[std::ptrdiff_t(b) * cols + j];
  }
  if (dgain) dgain[j] += float(gain);
  if (dbias) dbias[j] += float(bias);
}

void by_atomics(Mat x, const double* means, Mat rstd, Mat dy, Mat dgain, Mat dbias, Pool&, cudaStream_t s) {
  if (x.rows == 0 || x.cols == 0) return;
  const int blocks = ceil_div(x.rows, kRowsOfSum) < 65535 ? ceil_div(x.rows, kRowsOfSum) : 65535;
  launch({dim3(unsigned(ceil_div(x.cols, 128)), unsigned(blocks)), dim3(128), 0, s}, atomic_columns_kernel, x, rstd, dy,
         means, dgain.data, dbias.data);
}

void in_two_passes(Mat x, const double* means, Mat rstd, Mat dy, Mat dgain, Mat dbias, Pool& pool, cudaStream_t s) {
  if (x.rows == 0 || x.cols == 0) return;
  const int blocks = ceil_div(x.rows, 4 * kRows) < 128 ? ceil_div(x.rows, 4 * kRows) : 128;
  const std::size_t sums = std::size_t(blocks) * std::size_t(x.cols);
  double* scratch = static_cast<double*>(pool.take(2 * sums * sizeof(double)));
  const Partial p{scratch, scratch + sums};
  const dim3 grid(unsigned(ceil_div(x.cols, kColumns)), unsigned(blocks));
  launch({grid, dim3(kColumns, kRows), 0, s}, partial_columns_kernel, x, rstd, dy, means, p);
  launch({dim3(unsigned(ceil_div(x.cols, 128))), dim3(128), 0, s}, columns_kernel, p, blocks, x.cols, dgain.data,
         dbias.data);
  pool.give(scratch);  // what is launched later on this stream may have it
}

template <bool kCentred>
void backward(Pool& pool, cudaStream_t s, Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias) {
  if (x.rows == 0 || x.cols == 0) return;
  double* means = static_cast<double*>(pool.take(std::size_t(x.rows) * sizeof(double)));
  launch(warp_per_row(x.rows, s), rows_kernel<kCentred>, x, gain, rstd, dy, dx, means);
  if (dgain.data || dbias.data) in_two_passes(x, means, rstd, dy, dgain, dbias, pool, s);
  pool.give(means);
}

}  // namespace

std::span<const ColumnSumsVersion> cuda_column_sums_ladder() {
  static const ColumnSumsVersion all[] = {{1, "atomic", by_atomics}, {2, "two passes", in_two_passes}};
  return all;
}

void CudaBackend::layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias) {
  backward<true>(pool, stream, x, gain, rstd, dy, dx, dgain, dbias);
}

void CudaBackend::rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain) {
  backward<false>(pool, stream, x, gain, rrms, dy, dx, dgain, Mat{});
}

}  // namespace GLASS_PRECISION
}  // namespace glass
