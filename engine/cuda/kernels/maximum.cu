// The first maximum, or the first NaN, of rows, columns or all, with its place; numbers taken from places and added to
// them.
#include "engine/cuda/cuda.h"
#include "engine/cuda/reduce.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Candidate {
  DeviceMat x;
  __device__ First operator()(int i, int j) const { return {x(i, j), i * x.cols + j}; }
};
struct Write {
  float* y;
  std::ptrdiff_t step;
  int* where;
  __device__ void operator()(int k, First v) const {
    y[k * step] = v.value;
    where[k] = v.place;
  }
};

// chosen_ij: x_ij is one of the k largest of row i. A warp has a row; k times its lanes find the best of what is left.
// Column j belongs to lane j mod 32, which alone reads and writes its mark.
__global__ void top_k_kernel(DeviceMat x, int k, DeviceKeep chosen) {
  const int i = int(blockIdx.x * blockDim.y + threadIdx.y), lane = int(threadIdx.x);
  if (i >= x.rows) return;
  unsigned char* const taken = chosen.data + std::ptrdiff_t(i) * x.cols;
  for (int j = lane; j < x.cols; j += 32) taken[j] = 0;
  for (int n = 0; n < k; ++n) {
    First best = First::nothing();
    for (int j = lane; j < x.cols; j += 32) {
      if (!taken[j] && x(i, j) != -INFINITY) best = joined(best, First{x(i, j), j});
    }
    best = warp_joined(best);
    if (best.place == INT_MAX) return;  // nothing is left
    if (best.place % 32 == lane) taken[best.place] = 1;
  }
}

struct Take {
  DeviceMat x;
  const int* where;
  int cols;  // of y
  __device__ float operator()(int i, int j) const {
    const int place = where[std::ptrdiff_t(i) * cols + j];
    return x(place / x.cols, place % x.cols);
  }
};

// dx at where_k += dy_k, where a place may come many times. As in kernels/gather.cu each number of dx has an owner, so
// that the order of its sum is fixed: warp (bx, by) owns kOwned neighbours of dx, keeps their sums in shared memory,
// and looks at part by of all places, in order. Lanes that meet one of their places at the same time take turns. The
// parts are joined by a second kernel.
constexpr int kOwned = 256;

__global__ void places_kernel(DeviceMat dy, const int* where, int owned_in_all, double* parts) {
  __shared__ double sums[kOwned];
  const int lane = int(threadIdx.x), first = int(blockIdx.x) * kOwned;
  for (int k = lane; k < kOwned; k += 32) sums[k] = 0;
  __syncwarp();
  const std::ptrdiff_t n = std::ptrdiff_t(dy.rows) * dy.cols, part = (n + gridDim.y - 1) / gridDim.y;
  const std::ptrdiff_t begin = blockIdx.y * part, end = begin + part < n ? begin + part : n;
  for (std::ptrdiff_t k = begin; k < end; k += 32) {
    const int mine = k + lane < end ? where[k + lane] - first : -1;
    for (unsigned turns = __ballot_sync(kAllLanes, mine >= 0 && mine < kOwned); turns; turns &= turns - 1) {
      if (lane == __ffs(int(turns)) - 1) sums[mine] += dy(int((k + lane) / dy.cols), int((k + lane) % dy.cols));
      __syncwarp();
    }
  }
  for (int k = lane; k < kOwned && first + k < owned_in_all; k += 32) {
    parts[std::ptrdiff_t(blockIdx.y) * owned_in_all + first + k] = sums[k];
  }
}

struct AddParts {
  const double* parts;
  int n;
  DeviceMat dx;
  __device__ float operator()(int i, int j) const {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += parts[(std::ptrdiff_t(k) * dx.rows + i) * dx.cols + j];
    return sum != 0 ? dx(i, j) + float(sum) : dx(i, j);
  }
};

}  // namespace

void CudaBackend::row_max(Mat x, Mat y, Ints where) {
  reduce_rows(x.rows, x.cols, Candidate{x}, Write{y.data, y.ld, where.data}, stream);
}
void CudaBackend::col_max(Mat x, Mat y, Ints where) {
  reduce_cols(x.rows, x.cols, Candidate{x}, Write{y.data, 1, where.data}, pool, stream);
}
void CudaBackend::max(Mat x, Mat y, Ints where) {
  reduce_all(x.rows, x.cols, Candidate{x}, Write{y.data, 1, where.data}, pool, stream);
}

void CudaBackend::top_k(Mat x, int k, Keep chosen) {
  if (x.rows == 0 || x.cols == 0) return;
  launch({dim3(unsigned(ceil_div(x.rows, 4))), dim3(32, 4), 0, stream}, top_k_kernel, x, k, chosen);
}

void CudaBackend::take_at(Mat x, Ints where, Mat y) { each(y, Take{x, where.data, y.cols}, stream); }

void CudaBackend::add_at(Mat dy, Ints where, Mat dx) {
  if (dy.rows == 0 || dy.cols == 0) return;
  const std::ptrdiff_t n = std::ptrdiff_t(dy.rows) * dy.cols;
  const int numbers = dx.rows * dx.cols, owners = ceil_div(numbers, kOwned);  // a place is an int
  // as many parts as fill a device, but none without work
  const unsigned high = at_most(ceil_div(4096, owners), int((n + 1023) / 1024));
  double* const parts = static_cast<double*>(pool.take(std::size_t(high) * std::size_t(numbers) * sizeof(double)));
  launch({dim3(unsigned(owners), high), dim3(32), 0, stream}, places_kernel, dy, where.data, numbers, parts);
  each(dx, AddParts{parts, int(high), dx}, stream);
  pool.give(parts);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
