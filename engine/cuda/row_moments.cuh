// Mean and deviation of a row, by its warp, in double, for every lane.
#pragma once

#include "engine/cuda/rows.cuh"

namespace glass {
inline namespace GLASS_PRECISION {

__device__ inline double row_mean(DeviceMat x, int i) {
  double sum = 0;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) sum += x(i, j);
  return warp_sum(sum) / x.cols;
}

__device__ inline double reciprocal_root(DeviceMat x, int i, double mean, double eps) {
  double sum = 0;
  for (int j = int(threadIdx.x); j < x.cols; j += 32) sum += (x(i, j) - mean) * (x(i, j) - mean);
  return 1 / sqrt(warp_sum(sum) / x.cols + eps);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
