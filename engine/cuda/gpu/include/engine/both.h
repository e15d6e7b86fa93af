// The twin of engine/both.h where nvcc compiles: GLASS_BOTH functions are built for the host and for the device.
#pragma once

#include <cuda_runtime.h>

#define GLASS_BOTH __host__ __device__
