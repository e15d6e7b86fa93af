// Flash attention on the GPU, as a ladder: numbered versions of one computation, slow to fast, each launchable alone.
// CudaBackend::flash_attention takes the highest that fits. What is computed: engine/ops/flash_attention.cpp.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

// kernels/flash.cu (4: flash_float4.cu)
//   1  a thread for each query; everything in global memory                    any width
//   2  a block shares tiles of keys and values in shared memory                any width whose tiles fit there
//   3  four lanes share a query, its sums are in their registers               width 64 or 128
//   4  a thread owns 4 x 4 scores; shared memory is read four floats at a time width 64 or 128, aligned rows
constexpr int kFlashVersions = 4;
bool flash_fits(int version, Mat Q, Mat K, Mat V, const Tiling&);
// Overwrites Y and L; adds to counts (1 x 2): tiles visited, rescalings. Throws CudaError if the version does not fit.
void flash_forward(int version, Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat Y, Mat L, Mat counts, cudaStream_t);

// kernels/flash_backward.cu
//   1  a thread for each query (dQ), then one for each key (dK, dV)            any width
//   2  the same in tiles in shared memory                                      any width whose tiles fit there
// Nothing is added atomically: each row of a gradient has one owner, which adds in a fixed order.
constexpr int kFlashBackwardVersions = 2;
bool flash_backward_fits(int version, Mat Q, Mat K, Mat V, const Tiling&);
// D = rowsum(dY ∘ Y) - dL for each head, as many columns as L; dL may be without memory.
void flash_row_sums(Mat Y, Mat dY, Mat dL, Mat D, cudaStream_t);
// Adds to dQ, dK, dV; each may be without memory.
void flash_backward(int version, Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat L, Mat D, Mat dY, Mat dQ, Mat dK,
                    Mat dV, cudaStream_t);

// kernels/flash_tensor.cu, flash_tensor_backward.cu: the same on tensor cores, from numbers of 16 bits (bfloat16) and with
// sums in float. Width 64 or 128, rows that begin at multiples of 16 bytes; causal or not, no other mask. A tile that is cut by
// the mask and holds a number that is not finite is taken pair by pair, so that a hidden NaN stays out.
struct HalfMat {
  __nv_bfloat16* data = nullptr;
  int rows = 0, cols = 0, ld = 0;
};
void to_half(Mat x, HalfMat y, cudaStream_t);  // rounded to nearest
void from_half(HalfMat x, Mat y, cudaStream_t);
void flash_tensor(HalfMat Q, HalfMat K, HalfMat V, Real scale, const Tiling&, HalfMat Y, Mat L, cudaStream_t);
void flash_tensor_backward(HalfMat Q, HalfMat K, HalfMat V, Real scale, const Tiling&, Mat L, Mat D, HalfMat dY, Mat dQ,
                           Mat dK, Mat dV, cudaStream_t);  // adds

}  // namespace GLASS_PRECISION
}  // namespace glass
