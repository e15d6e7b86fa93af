#include "engine/cpu/fast/widths.h"

namespace glass {
inline namespace GLASS_PRECISION {

namespace v16 { Backend& backend(); const Ladder& ladder(); }  // SSE2, which every one of them has
namespace v32 { Backend& backend(); const Ladder& ladder(); }  // AVX2 and FMA
namespace v64 { Backend& backend(); const Ladder& ladder(); }  // AVX-512

const std::vector<Width>& widths() {
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  static const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  static const std::vector<Width> all = {{16, true, v16::backend, v16::ladder}, {32, avx2, v32::backend, v32::ladder}, {64, avx512, v64::backend, v64::ladder}};
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
