//   u_ij  = dy_ij g_j
//   dx_ij += (or =) r_i (u_ij - mean_k u_ik - x̂_ij mean_k u_ik x̂_ik)      dg_j += Σ_i dy_ij x̂_ij      db_j += Σ_i dy_ij
//
// dx goes along rows: three versions. dg and db go down columns, in two passes. First, each block adds up some rows of
// 32 columns and writes its sum to scratch memory; then each column adds up the sums of its blocks, in their order. So
// the same numbers give the same bits. (rms_norm: the same with μ = 0, without mean u and db.)
#include "engine/cuda/cuda.h"
#include "engine/cuda/held_row.cuh"
#include "engine/cuda/ladder.h"
#include "engine/cuda/row_moments.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// Rows, version 1: a thread for each. Neighbouring lanes read ld apart.
__global__ void thread_rows_kernel(DeviceMat x, DeviceMat gain, DeviceMat rstd, DeviceMat dy, DeviceMat dx, double* means,
                                   bool accumulate) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= x.rows) return;
  const double r = rstd(i, 0);
  double m = 0, mean_u = 0, mean_ux = 0;
  for (int j = 0; j < x.cols; ++j) m += x(i, j);
  means[i] = m /= x.cols;  // the columns need it
  for (int j = 0; j < x.cols; ++j) {
    const double u = double(dy(i, j)) * gain(0, j);
    mean_u += u / x.cols;
    mean_ux += u * ((x(i, j) - m) * r) / x.cols;
  }
  for (int j = 0; j < x.cols; ++j) {
    const double u = double(dy(i, j)) * gain(0, j), xhat = (x(i, j) - m) * r;
    give(dx(i, j), float(r * (u - mean_u - xhat * mean_ux)), accumulate);
  }
}

// Version 2: a warp for each.
template <bool kCentred>  // layer norm: yes. rms_norm: no
__global__ void rows_kernel(DeviceMat x, DeviceMat gain, DeviceMat rstd, DeviceMat dy, DeviceMat dx, double* means,
                            bool accumulate) {
  const int i = row_of_warp();
  if (i >= x.rows) return;
  const double m = kCentred ? row_mean(x, i) : 0, r = rstd(i, 0);
  if (threadIdx.x == 0) means[i] = m;
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
    give(dx(i, j), float(r * (u - mean_u - xhat * mean_ux)), accumulate);
  }
}

// Version 3: x and dy in registers, each read once. Rows of over 512 columns have a block each.
template <int kFours, bool kBlock>
__global__ void held_rows_kernel(DeviceMat x, DeviceMat gain, DeviceMat rstd, DeviceMat dy, DeviceMat dx, double* means,
                                 bool accumulate) {
  const int i = held_row_number<kBlock>();
  if (i >= x.rows) return;
  using Row = HeldRow<kFours>;
  const Row row(x.row(i), x.cols), g(gain.data, x.cols), d(dy.row(i), x.cols);
  Row to(dx.row(i), accumulate ? x.cols : 0);
  const double r = rstd(i, 0);
  double m = 0, mean_u = 0, mean_ux = 0;
#pragma unroll
  for (int e = 0; e < 4 * kFours; ++e) m += row.v[e];
  m = held_row_sum<kBlock>(m) / x.cols;
  if (threadIdx.x == 0) means[i] = m;
#pragma unroll
  for (int e = 0; e < 4 * kFours; ++e) {
    const double u = double(d.v[e]) * g.v[e];  // behind the last column 0, so it adds nothing
    mean_u += u;
    mean_ux += u * ((row.v[e] - m) * r);
  }
  mean_u = held_row_sum<kBlock>(mean_u) / x.cols;
  mean_ux = held_row_sum<kBlock>(mean_ux) / x.cols;
#pragma unroll
  for (int e = 0; e < 4 * kFours; ++e) {
    const double u = double(d.v[e]) * g.v[e], xhat = (row.v[e] - m) * r;
    to.v[e] += float(r * (u - mean_u - xhat * mean_ux));
  }
  to.store(dx.row(i), x.cols);
}

void rows_by_threads(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, double* means, bool accumulate, cudaStream_t s) {
  if (x.rows == 0) return;
  launch({dim3(unsigned(ceil_div(x.rows, 128))), dim3(128), 0, s}, thread_rows_kernel, x, gain, rstd, dy, dx, means, accumulate);
}
template <bool kCentred>
void rows_by_warps(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, double* means, bool accumulate, cudaStream_t s) {
  if (x.rows > 0) launch(warp_per_row(x.rows, s), rows_kernel<kCentred>, x, gain, rstd, dy, dx, means, accumulate);
}
void rows_held(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, double* means, bool accumulate, cudaStream_t s) {
  if (!dx.data || !can_be_held(x) || !can_be_held(gain) || !can_be_held(dy) || !can_be_held(dx)) {
    return rows_by_warps<true>(x, gain, rstd, dy, dx, means, accumulate, s);
  }
  if (x.rows == 0) return;
  constexpr decltype(&held_rows_kernel<1, false>) kernels[] = {
      held_rows_kernel<1, false>, held_rows_kernel<2, false>, held_rows_kernel<4, false>,
      held_rows_kernel<1, true>,  held_rows_kernel<2, true>,  held_rows_kernel<4, true>};
  const int size = held_size(x.cols);
  launch(held_launch(size, x.rows, s), kernels[size], x, gain, rstd, dy, dx, means, accumulate);
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

void backward(void (*rows)(Mat, Mat, Mat, Mat, Mat, double*, bool, cudaStream_t), Pool& pool, cudaStream_t s, Mat x, Mat gain,
              Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias, bool accumulate) {
  if (x.rows == 0 || x.cols == 0) return;
  double* means = static_cast<double*>(pool.take(std::size_t(x.rows) * sizeof(double)));
  rows(x, gain, rstd, dy, dx, means, accumulate, s);
  if (dgain.data || dbias.data) in_two_passes(x, means, rstd, dy, dgain, dbias, pool, s);
  pool.give(means);
}

}  // namespace

std::span<const NormRowsVersion> cuda_norm_rows_ladder() {
  static const NormRowsVersion all[] = {
      {1, "threads", rows_by_threads}, {2, "warps", rows_by_warps<true>}, {3, "rows in registers", rows_held}};
  return all;
}
std::span<const ColumnSumsVersion> cuda_column_sums_ladder() {
  static const ColumnSumsVersion all[] = {{1, "atomic", by_atomics}, {2, "two passes", in_two_passes}};
  return all;
}

void CudaBackend::layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias,
                                      bool accumulate) {
  backward(rows_held, pool, stream, x, gain, rstd, dy, dx, dgain, dbias, accumulate);
}

void CudaBackend::rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain, bool accumulate) {
  backward(rows_by_warps<false>, pool, stream, x, gain, rrms, dy, dx, dgain, Mat{}, accumulate);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
