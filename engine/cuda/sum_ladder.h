// One sum in six versions, from slow to fast, each of which can be launched by itself: kernels/sum.cu.
#pragma once

#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

constexpr int kSumVersions = 6;

// y = Σ x in float       x: 1 x n, on the device    y: 1 x 1, on the device    version: 1 to kSumVersions
void sum_version(int version, Mat x, Mat y, CudaBackend&);

}  // namespace GLASS_PRECISION
}  // namespace glass
