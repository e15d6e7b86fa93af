// Selection by a mask: no product, so a NaN that is not taken stays out. y_ij = f(i, j), see each.cuh.
#include "engine/cuda/cuda.h"
#include "engine/cuda/each.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

struct Select {
  DeviceMat x;
  DeviceKeep keep;
  float other;
  __device__ float operator()(int i, int j) const { return keep(i, j) ? x(i, j) : other; }
};
struct Choose {
  DeviceMat a, b;
  DeviceKeep keep;
  __device__ float operator()(int i, int j) const { return keep(i, j) ? a(i, j) : b(i, j); }
};
// dx += dy where the mask says `when`
struct AddWhere {
  DeviceMat dy;
  DeviceKeep keep;
  bool when;
  DeviceMat dx;
  __device__ float operator()(int i, int j) const { return keep(i, j) == when ? dx(i, j) + dy(i, j) : dx(i, j); }
};

// The same for whole rows: row i of x is a key, taken if some query may use it.
struct SelectSeen {
  DeviceMat x;
  const unsigned char* seen;
  __device__ float operator()(int i, int j) const { return seen[i] ? x(i, j) : 0; }
};
struct AddSeen {
  DeviceMat dy;
  const unsigned char* seen;
  DeviceMat dx;
  __device__ float operator()(int i, int j) const { return seen[i] ? dx(i, j) + dy(i, j) : dx(i, j); }
};

// seen_j: may any query use key j? One thread for each key: a warp reads 32 neighbouring bytes of a query's row at a
// time.
__global__ void seen_kernel(DeviceKeep keep, int keys, unsigned char* seen) {
  const int key = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (key >= keys) return;
  bool any = false;
  for (int query = 0; query < keep.rows && !any; ++query) any = keep(query, key);
  seen[key] = any;
}

// Bytes of scratch, one for each key; given back to the pool when the kernels that read them have been launched: what
// the pool hands out next is used after them, on the same stream.
unsigned char* seen_keys(Keep keep, int keys, Pool& pool, cudaStream_t stream) {
  unsigned char* const seen = static_cast<unsigned char*>(pool.take(std::size_t(keys)));
  if (keys > 0) launch({dim3(unsigned(ceil_div(keys, 128))), dim3(128), 0, stream}, seen_kernel, keep, keys, seen);
  return seen;
}

}  // namespace

void CudaBackend::select(Mat x, Keep keep, Real other, Mat y) { each(y, Select{x, keep, other}, stream); }
void CudaBackend::add_selected(Mat dy, Keep keep, Mat dx) { each(dx, AddWhere{dy, keep, true, dx}, stream); }
void CudaBackend::choose(Mat a, Mat b, Keep keep, Mat y) { each(y, Choose{a, b, keep}, stream); }
void CudaBackend::add_unselected(Mat dy, Keep keep, Mat dx) { each(dx, AddWhere{dy, keep, false, dx}, stream); }

void CudaBackend::select_seen(Mat x, Keep keep, Mat y) {
  unsigned char* const seen = seen_keys(keep, y.rows, pool, stream);
  each(y, SelectSeen{x, seen}, stream);
  pool.give(seen);
}
void CudaBackend::add_seen(Mat dy, Keep keep, Mat dx) {
  unsigned char* const seen = seen_keys(keep, dx.rows, pool, stream);
  each(dx, AddSeen{dy, seen, dx}, stream);
  pool.give(seen);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
