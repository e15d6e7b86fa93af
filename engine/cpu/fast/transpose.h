// L vectors of L numbers, turned: afterwards vector j holds what was number j of each.
//
//   One round zips vector i with vector i + L/2:   a0 a1 a2 a3        a0 b0 a1 b1
//   log2(L) rounds turn the block.                 b0 b1 b2 b3   ->   a2 b2 a3 b3
#pragma once

#include "engine/cpu/fast/simd.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// (Templates only so that the compiler looks at the line for its own width alone.)
template <class V>
static inline V zip_low(V a, V b) {
  constexpr int n = sizeof(V) / sizeof(Real);
  if constexpr (n == 2) return __builtin_shufflevector(a, b, 0, 2);
  if constexpr (n == 4) return __builtin_shufflevector(a, b, 0, 4, 1, 5);
  if constexpr (n == 8) return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  if constexpr (n == 16) return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

template <class V>
static inline V zip_high(V a, V b) {
  constexpr int n = sizeof(V) / sizeof(Real);
  if constexpr (n == 2) return __builtin_shufflevector(a, b, 1, 3);
  if constexpr (n == 4) return __builtin_shufflevector(a, b, 2, 6, 3, 7);
  if constexpr (n == 8) return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  if constexpr (n == 16) return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// to[j * to_row + i] = from[i * from_row + j] for i, j < L
static inline void transpose_block(const Real* from, std::ptrdiff_t from_row, Real* to, std::ptrdiff_t to_row) {
  vec a[L], b[L];
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) a[i] = load(from + i * from_row);
#pragma GCC unroll 4
  for (int round = 1; round < L; round *= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < L / 2; ++i) {
      b[2 * i] = zip_low(a[i], a[i + L / 2]);
      b[2 * i + 1] = zip_high(a[i], a[i + L / 2]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) a[i] = b[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < L; ++i) store(to + i * to_row, a[i]);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
