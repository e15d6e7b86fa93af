// Y = Xᵀ        X: R x C    Y: C x R
//
// Either the reading or the writing of a plain copy would go down a column, 32 sectors for a warp where 4 are enough.
// So a block brings a tile of 32 x 32 into shared memory row by row, and takes it out column by column. There the 32
// numbers of a column must lie in 32 different banks: with one column more in the tile, number (r, c) is in bank (33 r
// + c) mod 32 = (r + c) mod 32, and down a column r runs through all of them. Ruetsch and Micikevicius 2009,
// "Optimizing Matrix Transpose in CUDA".
#include "engine/cuda/cuda.h"
#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

constexpr int kTile = 32, kTileRows = 8;  // a thread moves every 8th row of the tile

// y = xᵀ or, if `adds`, y += xᵀ. Block (bx, by): the tile of y at row 32 by, column 32 bx.
__global__ void transpose_kernel(DeviceMat x, bool adds, DeviceMat y) {
  __shared__ float tile[kTile][kTile + 1];
  const int tx = int(threadIdx.x), ty = int(threadIdx.y), col = int(blockIdx.x) * kTile;
  for (int row = int(blockIdx.y) * kTile; row < y.rows; row += int(gridDim.y) * kTile) {
    for (int n = ty; n < kTile; n += kTileRows) {  // x(col.., row..), along its rows
      if (col + n < x.rows && row + tx < x.cols) tile[n][tx] = x(col + n, row + tx);
    }
    __syncthreads();
    for (int n = ty; n < kTile; n += kTileRows) {  // y(row.., col..), along its rows
      if (row + n >= y.rows || col + tx >= y.cols) continue;
      float& there = y(row + n, col + tx);
      there = adds ? there + tile[tx][n] : tile[tx][n];
    }
    __syncthreads();  // before the next tile
  }
}

void run(Mat x, bool adds, Mat y, cudaStream_t stream) {
  if (y.rows == 0 || y.cols == 0) return;
  const int down = ceil_div(y.rows, kTile);
  const dim3 grid(unsigned(ceil_div(y.cols, kTile)), unsigned(down < 65535 ? down : 65535));
  launch({grid, dim3(kTile, kTileRows), 0, stream}, transpose_kernel, x, adds, y);
}

}  // namespace

void CudaBackend::transpose(Mat x, Mat y) { run(x, false, y, stream); }
void CudaBackend::add_transposed(Mat x, Mat y) { run(x, true, y, stream); }

}  // namespace GLASS_PRECISION
}  // namespace glass
