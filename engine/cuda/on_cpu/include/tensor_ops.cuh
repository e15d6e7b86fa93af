// CPU versions of the tensor-core instructions in cuda/tensor_ops.cuh.  The PTX manual fixes which lane holds which
// element of a fragment, so these follow it exactly and a kernel with a wrong layout fails here too.
#pragma once
#include "cuda_bf16.h"

namespace tensor {
inline float bf16_low(std::uint32_t r) { return std::bit_cast<float>(r << 16); }
inline float bf16_high(std::uint32_t r) { return std::bit_cast<float>(r & 0xffff0000u); }
inline std::uint32_t pack(float low, float high) {
  return __nv_bfloat16(low).bits | std::uint32_t(__nv_bfloat16(high).bits) << 16;
}

/// Four 8x8 matrices of 16-bit values: lane l names row l%8 of matrix l/8; lane l receives two neighbours of row l/4.
inline void ldmatrix(std::uint32_t (&r)[4], const void* row, bool transposed, CudaWhere w) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16) cuda_on_cpu::fail("ldmatrix: rows must be 16-byte aligned");
  const int l = cuda_on_cpu::lane();
  auto* scratch = reinterpret_cast<std::uint16_t*>(cuda_on_cpu::warp_scratch());
  std::memcpy(scratch + l * 8, row, 16);
  __syncwarp(~0u, w);
  for (int m = 0; m < 4; ++m) {
    const std::uint16_t* tile = scratch + m * 64;
    const int i = l / 4, j = l % 4 * 2;
    r[m] = transposed ? tile[j * 8 + i] | std::uint32_t(tile[(j + 1) * 8 + i]) << 16
                      : tile[i * 8 + j] | std::uint32_t(tile[i * 8 + j + 1]) << 16;
  }
  __syncwarp(~0u, w);
}
inline void load(std::uint32_t (&r)[4], const void* row, CudaWhere w = CudaWhere::current()) {
  ldmatrix(r, row, false, w);
}
inline void load_transposed(std::uint32_t (&r)[4], const void* row, CudaWhere w = CudaWhere::current()) {
  ldmatrix(r, row, true, w);
}

/// d += a·b, where a is 16x16, b 16x8 (bfloat16) and d 16x8 (float).
inline void multiply_add(float (&d)[4], const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                         CudaWhere w = CudaWhere::current()) {
  const int l = cuda_on_cpu::lane(), g = l / 4, t = l % 4 * 2;
  float *A = cuda_on_cpu::warp_scratch(), *B = A + 256;
  for (int i = 0; i < 4; ++i) {
    float* p = A + (g + i % 2 * 8) * 16 + t + i / 2 * 8;
    p[0] = bf16_low(a[i]), p[1] = bf16_high(a[i]);
  }
  B[t * 8 + g] = bf16_low(b0), B[(t + 1) * 8 + g] = bf16_high(b0), B[(t + 8) * 8 + g] = bf16_low(b1),
            B[(t + 9) * 8 + g] = bf16_high(b1);
  __syncwarp(~0u, w);
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 16; ++k) d[i] += A[(g + i / 2 * 8) * 16 + k] * B[k * 8 + t + i % 2];
  __syncwarp(~0u, w);
}
}  // namespace tensor
