// bfloat16 for cuda_on_cpu: a float with its lower half cut off (rounded to nearest, ties to even).
#pragma once
#include "cuda_runtime.h"

struct __nv_bfloat16 {
  std::uint16_t bits;
  __nv_bfloat16() = default;
  __nv_bfloat16(float f) {
    const auto u = std::bit_cast<std::uint32_t>(f);
    bits = f != f ? 0x7fff : std::uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16);
  }
  operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }
};
inline __nv_bfloat16 __float2bfloat16(float f) { return __nv_bfloat16(f); }
inline float __bfloat162float(__nv_bfloat16 b) { return float(b); }
