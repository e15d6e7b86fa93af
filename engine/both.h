// GLASS_BOTH stands before a function that kernels call too. To the plain compiler it says nothing; where nvcc
// compiles, the file of the same name in engine/cuda/gpu/include comes first on the include path.
#pragma once

#define GLASS_BOTH
