// L x L numbers transposed in registers.
//
//   step h = 1, 2, 4, ... L/2:  rows p and p + h swap the entries outside their common diagonal, in blocks of h x h
//
//     a0 a1 a2 a3        a0 b0 a2 b2        a0 b0 c0 d0
//     b0 b1 b2 b3  h=1   a1 b1 a3 b3  h=2   a1 b1 c1 d1      log2 L steps, one shuffle for each row and step
//     c0 c1 c2 c3        c0 d0 c2 d2        a2 b2 c2 d2
//     d0 d1 d2 d3        c1 d1 c3 d3        a3 b3 c3 d3
#pragma once

#include <cstddef>
#include <utility>

#include "engine/cpu/fast/simd.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// The compiler must know the places, so they are template arguments.
template <int h, int... i>
static inline vec upper(vec a, vec b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, (i & h ? L + i - h : i)...);
}
template <int h, int... i>
static inline vec lower(vec a, vec b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, (i & h ? L + i : i + h)...);
}
template <int h>
static inline void transpose_step(vec* v) {
  if constexpr (h < L) {
#pragma GCC unroll 16
    for (int p = 0; p < L; ++p) {
      if (p & h) continue;
      const vec a = v[p], b = v[p + h];
      v[p] = upper<h>(a, b, std::make_integer_sequence<int, L>());
      v[p + h] = lower<h>(a, b, std::make_integer_sequence<int, L>());
    }
    transpose_step<2 * h>(v);
  }
}

// to[c * ldto + r] = from[r * ldfrom + c]
static inline void transpose_tile(const Real* from, std::ptrdiff_t ldfrom, Real* to, std::ptrdiff_t ldto) {
  vec v[L];
#pragma GCC unroll 16
  for (int r = 0; r < L; ++r) v[r] = load(from + r * ldfrom);
  transpose_step<1>(v);
#pragma GCC unroll 16
  for (int c = 0; c < L; ++c) store(to + c * ldto, v[c]);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
