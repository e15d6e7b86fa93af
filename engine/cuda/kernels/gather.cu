// Rows of a table by index, and the way back, where an index may come more than once.
//
//   y_i = table_(ids_i)            dtable_(ids_i) += dy_i
//
// Many rows that are added to one with atomics would come in any order, and a float sum in another order has other last
// digits. Here the first row i with an index owns it: its block adds all rows with the same index, in their order. So
// no two blocks write the same row, and the sums are those of the CPU to the bit, in every run. The price: each block
// reads the indices, 32 at a time.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Gather {
  DeviceMat table;
  const int* ids;
  __device__ float operator()(int i, int j) const { return table(ids[i], j); }
};

// Which lanes' numbers first + lane, below end, have this index?
__device__ unsigned same_index(const int* ids, int first, int end, int id) {
  const int i = first + int(threadIdx.x % 32);
  return __ballot_sync(kAllLanes, i < end && ids[i] == id);
}

// Block b: row b of dy; its threads take the columns in turn. Every warp reads the indices by itself, so none waits.
__global__ void scatter_kernel(DeviceMat dy, const int* ids, DeviceMat dtable) {
  const int me = int(blockIdx.x), id = ids[me], n = dy.rows;
  for (int first = 0; first < me; first += 32) {
    if (same_index(ids, first, me, id)) return;  // an earlier row owns this index
  }
  for (int first = me; first < n; first += 32) {
    for (unsigned same = same_index(ids, first, n, id); same; same &= same - 1) {
      const int i = first + __ffs(int(same)) - 1;
      for (int j = int(threadIdx.x); j < dy.cols; j += int(blockDim.x)) dtable(id, j) += dy(i, j);
    }
  }
}

}  // namespace

void CudaBackend::gather_rows(Mat table, Ints ids, Mat y) { each(y, Gather{table, ids.data}, stream); }

void CudaBackend::scatter_rows(Mat dy, Ints ids, Mat dtable) {
  if (dy.rows == 0 || dy.cols == 0) return;
  launch({dim3(unsigned(dy.rows)), dim3(128), 0, stream}, scatter_kernel, dy, ids.data, dtable);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
