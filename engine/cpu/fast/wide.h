// As many numbers at once as doubles fit in a vector: sums in double, and 64-bit whole numbers beside numbers.
#pragma once

#include "engine/cpu/fast/simd.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

constexpr int W = GLASS_VECTOR_BYTES / 8;

typedef double wide __attribute__((vector_size(GLASS_VECTOR_BYTES)));
typedef std::uint64_t bits64 __attribute__((vector_size(GLASS_VECTOR_BYTES)));
typedef Real few __attribute__((vector_size(W * sizeof(Real))));  // the W numbers themselves: half a vector of floats
typedef Whole few_whole __attribute__((vector_size(W * sizeof(Real))));
typedef Real few_unaligned __attribute__((vector_size(W * sizeof(Real)), aligned(alignof(Real)), may_alias));

static inline few load_few(const Real* p) { return *reinterpret_cast<const few_unaligned*>(p); }
static inline void store_few(Real* p, few v) { *reinterpret_cast<few_unaligned*>(p) = v; }
static inline wide load_wide(const Real* p) { return __builtin_convertvector(load_few(p), wide); }

static inline double sum_of_wide(wide v) {
  double s = 0;
  for (int i = 0; i < W; ++i) s += v[i];
  return s;
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
