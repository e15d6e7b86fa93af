// One sum in six versions, from slow to fast, each of which can be launched by itself: kernels/sum.cu. Plain C++: no
// CUDA syntax.
#pragma once

#include <cuda_runtime.h>

#include <span>

#include "engine/cuda/pool.h"
#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SumVersion {
  int number;
  const char* name;
  void (*run)(Mat x, Mat y, Pool& scratch, cudaStream_t);  // y = Σ x in float    x: 1 x n    y: 1 x 1    on the device
};
std::span<const SumVersion> cuda_sum_ladder();

}  // namespace GLASS_PRECISION
}  // namespace glass
