// Vectors of numbers, in the compiler's own vector types (g++ and clang): one source for every width, and for processors
// without any, where the compiler takes them apart.
//
//   vec a = load(p);        L numbers from p, which need not be aligned
//   a * b + splat(2)        number by number; one fused multiply-add where the processor has it
//   a > b ? a : b           number by number too
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

constexpr int L = GLASS_VECTOR_BYTES / int(sizeof(Real));  // numbers in a vector

using Whole = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
typedef Real vec __attribute__((vector_size(GLASS_VECTOR_BYTES)));
typedef Whole ivec __attribute__((vector_size(GLASS_VECTOR_BYTES)));
typedef Real unaligned __attribute__((vector_size(GLASS_VECTOR_BYTES), aligned(alignof(Real)), may_alias));

static inline vec load(const Real* p) { return *reinterpret_cast<const unaligned*>(p); }
static inline void store(Real* p, vec v) { *reinterpret_cast<unaligned*>(p) = v; }
static inline vec splat(Real x) { return x - vec{}; }
static inline vec larger(vec a, vec b) { return a > b ? a : b; }

// The first n < L numbers; the rest of the vector is `other`.
static inline vec load_some(const Real* p, int n, Real other) {
  vec v = splat(other);
  for (int i = 0; i < n; ++i) v[i] = p[i];
  return v;
}
static inline void store_some(Real* p, vec v, int n) {
  for (int i = 0; i < n; ++i) p[i] = v[i];
}

// All numbers of a vector in one. The sum is taken in double.
static inline double sum_of(vec v) {
  double s = 0;
  for (int i = 0; i < L; ++i) s += v[i];
  return s;
}
static inline Real largest_of(vec v) {
  Real m = v[0];
  for (int i = 1; i < L; ++i) m = v[i] > m ? v[i] : m;
  return m;
}

// e^x to 1 unit in the last place (float: 0.9, measured over every float; double: see tests/engine/fast_exp_test.cpp).
//
//   x = n ln 2 + r, |r| <= ln 2 / 2        e^x = 2^n e^r        e^r by a polynomial, 2^n by the exponent's bits
//
// n is rounded by adding 1.5 · 2^(mantissa bits): -ffast-math would cancel that away, and is refused. Where e^x would be a
// denormal number the result is exactly 0: a masked score must leave nothing behind, and one denormal slows a product 20 times.
static inline vec exp_of(vec x);

static inline vec exp_of(vec x) {
  if constexpr (sizeof(Real) == 4) {
    constexpr float c[] = {1.f, 1.00000004f, 0.499999921f, 0.166664197f, 0.0416682287f, 0.00837485713f, 0.00138367941f};
    const ivec none = x < splat(Real(-87));
    const vec high = splat(Real(88.7228394));  // beyond: infinity
    const ivec over = x > high;
    const ivec nan = x != x;
    const vec y = over ? high : none ? splat(-87) : x;
    const vec t = y * splat(Real(1.44269504)) + splat(Real(12582912));
    const vec n = t - splat(Real(12582912));
    vec r = y - n * splat(Real(0.693145752));
    r = r - n * splat(Real(1.42860677e-6));
    vec p = splat(Real(c[6]));
    for (int i = 5; i >= 0; --i) p = p * r + splat(Real(c[i]));
    // 2^128 does not exist: half of it twice
    const ivec half = (reinterpret_cast<ivec>(t) - 1) << 23;
    vec e = reinterpret_cast<vec>(half + reinterpret_cast<ivec>(p));
    e = e + e;
    e = none ? vec{} : e;
    e = over ? splat(Real(INFINITY)) : e;
    return nan ? x : e;
  } else {
    // to be written: the same in double
    vec e;
    for (int i = 0; i < L; ++i) e[i] = std::exp(x[i]);
    return e;
  }
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
