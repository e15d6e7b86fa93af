// Dropout: y = kept ? x / (1-p) : 0. The choice depends on seed, row and column alone, as in engine/cpu/dropout.cpp,
// and is the same to the bit.
//
// The CPU walks along a row and draws for each entry; here each thread has a column j and jumps there. A jump over 2 j
// draws (an entry takes two) is one multiplication and one addition that are the same for every row: a thread finds
// both numbers once, in some log j steps, and then goes down its column.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int kRowsOfThread = 8;

// y_ij = kept ? x_ij factor : 0, or, if `adds`, y_ij += kept ? x_ij factor : 0
__global__ void dropout_kernel(DeviceMat x, double p, std::uint64_t seed, float factor, bool adds, DeviceMat y) {
  const int j = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (j >= y.cols) return;
  const Jump jump(2 * std::uint64_t(j));
  for (int i = int(blockIdx.y); i < y.rows; i += int(gridDim.y)) {
    Rng rng(seed, std::uint64_t(i));
    rng.skip(jump);
    const bool kept = rng.uniform() >= p;
    if (!adds) {
      y(i, j) = kept ? x(i, j) * factor : 0;
    } else if (kept) {
      y(i, j) += x(i, j) * factor;
    }
  }
}

void run(Mat x, double p, std::uint64_t seed, bool adds, Mat y, cudaStream_t stream) {
  if (y.rows == 0 || y.cols == 0) return;
  const float factor = p < 1 ? float(1 / (1 - p)) : 0;
  const dim3 grid(unsigned(ceil_div(y.cols, 128)), at_most(ceil_div(y.rows, kRowsOfThread), 65535));
  launch({grid, dim3(128), 0, stream}, dropout_kernel, x, p, seed, factor, adds, y);
}

}  // namespace

void CudaBackend::dropout(Mat x, double p, std::uint64_t seed, Mat y) { run(x, p, seed, false, y, stream); }
void CudaBackend::dropout_backward(Mat dy, double p, std::uint64_t seed, Mat dx) { run(dy, p, seed, true, dx, stream); }

}  // namespace GLASS_PRECISION
}  // namespace glass
