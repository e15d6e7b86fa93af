// Kernels that are wrong on purpose, for lesson 41 and the watcher's tests: a race in each, and what cures the second.
#pragma once

#include <cuda_runtime.h>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

void multiply_without_barrier(Mat A, Mat B, Mat C, cudaStream_t);  // sizes are multiples of 16
void lose_updates(Mat x, Mat y, cudaStream_t);   // y_j += Σ_i x_ij, at most 1024 columns: some of it is lost on a GPU
void count_updates(Mat x, Mat y, cudaStream_t);  // the same by atomicAdd: right, but in any order

}  // namespace GLASS_PRECISION
}  // namespace glass
