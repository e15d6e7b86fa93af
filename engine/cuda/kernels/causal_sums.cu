//   Y_t = a_t Σ_j b_j [v_j 1]ᵀ  over the keys j that query t has in its state      a: n x D    b: m x D    V: m x d_v
//
// The state [S z] has D x (d_v + 1) entries and grows along the sequence; each runs in one lane, in double, as on the CPU
// (engine/cpu/causal_sums.cpp). A sum over one of its sides is a sum over a warp, 32 entries at a time. So a warp owns
//
//   forward   a column c of Y, its lanes the rows r of the state          dV   a column c of dV, its lanes the rows r
//   da        a column r of da, its lanes the columns c of the state      db   a column r of db, its lanes the columns c
#include "engine/cuda/cuda.h"
#include "engine/cuda/device_mat.cuh"
#include "engine/cuda/launch.cuh"

namespace glass {
inline namespace GLASS_PRECISION {
namespace {

// The number of keys that query t has in its state.
__device__ int seen_by(int t, int n, int m, int lag) { return t + m - n - lag + 1; }

// Column d_v of V is the 1 of z.
__device__ double value_of(const DeviceMat& V, int j, int c) { return c < V.cols ? double(V(j, c)) : 1.0; }

__global__ void causal_sums_kernel(DeviceMat a, DeviceMat b, DeviceMat V, int lag, DeviceMat Y) {
  const int c = blockIdx.x, lane = threadIdx.x;
  for (int r0 = 0; r0 < a.cols; r0 += 32) {
    const int r = r0 + lane;
    const bool mine = r < a.cols;
    double S = 0;
    for (int t = 0, j = 0; t < a.rows; ++t) {
      for (; j < seen_by(t, a.rows, b.rows, lag); ++j) {
        if (mine) S += double(b(j, r)) * value_of(V, j, c);
      }
      const double sum = warp_sum(mine ? double(a(t, r)) * S : 0.0);
      if (lane == 0) Y(t, c) += float(sum);
    }
  }
}

// da_tr += Σ_c S_rc dY_tc
__global__ void causal_sums_backward_a(DeviceMat b, DeviceMat V, int lag, DeviceMat dY, DeviceMat da) {
  const int r = blockIdx.x, lane = threadIdx.x;
  for (int c0 = 0; c0 < dY.cols; c0 += 32) {
    const int c = c0 + lane;
    const bool mine = c < dY.cols;
    double S = 0;
    for (int t = 0, j = 0; t < da.rows; ++t) {
      for (; j < seen_by(t, da.rows, b.rows, lag); ++j) {
        if (mine) S += double(b(j, r)) * value_of(V, j, c);
      }
      const double sum = warp_sum(mine ? S * double(dY(t, c)) : 0.0);
      if (lane == 0) da(t, r) += float(sum);
    }
  }
}

// R_j = Σ a_t dY_tᵀ over the queries that have seen key j, so it grows backward in time:
// db_jr += Σ_c R_rc [v_j 1]_c
__global__ void causal_sums_backward_b(DeviceMat a, DeviceMat V, int lag, DeviceMat dY, DeviceMat db) {
  const int r = blockIdx.x, lane = threadIdx.x;
  for (int c0 = 0; c0 < dY.cols; c0 += 32) {
    const int c = c0 + lane;
    const bool mine = c < dY.cols;
    double R = 0;
    for (int j = db.rows - 1, t = a.rows - 1; j >= 0; --j) {
      for (; t >= 0 && j < seen_by(t, a.rows, db.rows, lag); --t) {
        if (mine) R += double(a(t, r)) * double(dY(t, c));
      }
      const double sum = warp_sum(mine ? R * value_of(V, j, c) : 0.0);
      if (lane == 0) db(j, r) += float(sum);
    }
  }
}

// dV_jc += Σ_r R_rc b_jr
__global__ void causal_sums_backward_v(DeviceMat a, DeviceMat b, int lag, DeviceMat dY, DeviceMat dV) {
  const int c = blockIdx.x, lane = threadIdx.x;
  for (int r0 = 0; r0 < a.cols; r0 += 32) {
    const int r = r0 + lane;
    const bool mine = r < a.cols;
    double R = 0;
    for (int j = dV.rows - 1, t = a.rows - 1; j >= 0; --j) {
      for (; t >= 0 && j < seen_by(t, a.rows, dV.rows, lag); --t) {
        if (mine) R += double(a(t, r)) * double(dY(t, c));
      }
      const double sum = warp_sum(mine ? R * double(b(j, r)) : 0.0);
      if (lane == 0) dV(j, c) += float(sum);
    }
  }
}

bool some(Mat x) { return x.data && x.rows > 0 && x.cols > 0; }

}  // namespace

void CudaBackend::causal_sums(Mat a, Mat b, Mat V, int lag, Mat Y) {
  if (!some(Y)) return;
  fill(Y, 0);
  launch({dim3(unsigned(Y.cols)), dim3(32), 0, stream}, causal_sums_kernel, a, b, V, lag, Y);
}

void CudaBackend::causal_sums_backward(Mat a, Mat b, Mat V, int lag, Mat dY, Mat da, Mat db, Mat dV) {
  if (some(da)) launch({dim3(unsigned(da.cols)), dim3(32), 0, stream}, causal_sums_backward_a, b, V, lag, dY, da);
  if (some(db)) launch({dim3(unsigned(db.cols)), dim3(32), 0, stream}, causal_sums_backward_b, a, V, lag, dY, db);
  if (some(dV)) launch({dim3(unsigned(dV.cols)), dim3(32), 0, stream}, causal_sums_backward_v, a, b, lag, dY, dV);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
