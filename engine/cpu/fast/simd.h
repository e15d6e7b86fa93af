// Vectors of numbers, in the compiler's own vector types (g++ and clang): one source for every width, and for processors
// without any, where the compiler takes them apart.
//
//   vec a = load(p);        L numbers from p, which need not be aligned
//   a * b + splat(2)        number by number; one fused multiply-add where the processor has it
//   a > b ? a : b           number by number too
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

constexpr int L = GLASS_VECTOR_BYTES / int(sizeof(Real));  // numbers in a vector

using Whole = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
typedef Real vec __attribute__((vector_size(GLASS_VECTOR_BYTES)));
typedef Whole ivec __attribute__((vector_size(GLASS_VECTOR_BYTES)));
typedef std::make_unsigned_t<Whole> bits __attribute__((vector_size(GLASS_VECTOR_BYTES)));  // sums of bit patterns may wrap
typedef Real unaligned __attribute__((vector_size(GLASS_VECTOR_BYTES), aligned(alignof(Real)), may_alias));

static inline vec load(const Real* p) { return *reinterpret_cast<const unaligned*>(p); }
static inline void store(Real* p, vec v) { *reinterpret_cast<unaligned*>(p) = v; }
static inline vec splat(Real x) { return x - vec{}; }
static inline vec larger(vec a, vec b) { return a > b ? a : b; }

// The first n < L numbers; the rest of the vector is `other`. (With AVX-512 the compiler makes masked moves of these loops.)
static inline vec load_some(const Real* p, int n, Real other) {
  vec v;
  for (int i = 0; i < L; ++i) v[i] = i < n ? p[i] : other;
  return v;
}
static inline void store_some(Real* p, vec v, int n) {
  for (int i = 0; i < L; ++i)
    if (i < n) p[i] = v[i];
}

// v turned by n places: number i comes from place i + n.
template <int n, class V, int... i>
static inline V turned(V v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, v, (i + n) % int(sizeof...(i))...);
}
template <int n, int numbers, class V>
static inline V turned(V v) {
  return turned<n>(v, std::make_integer_sequence<int, numbers>());
}

// All numbers of a vector in one, by halves: each step adds the other half. Floats are added in double.
typedef float floats __attribute__((vector_size(GLASS_VECTOR_BYTES)));
typedef float half_floats __attribute__((vector_size(GLASS_VECTOR_BYTES / 2)));
typedef double doubles __attribute__((vector_size(GLASS_VECTOR_BYTES)));
constexpr int kDoubles = GLASS_VECTOR_BYTES / 8;  // doubles in a vector

template <int first, int... i>
static inline doubles part_in_double(floats v, std::integer_sequence<int, i...>) {
  const half_floats half = __builtin_shufflevector(v, v, (first + i)...);
  return __builtin_convertvector(half, doubles);
}
static inline doubles halves_in_double(floats v) {
  constexpr std::make_integer_sequence<int, kDoubles> half;
  return part_in_double<0>(v, half) + part_in_double<kDoubles>(v, half);
}
static inline doubles halves_in_double(doubles v) { return v; }

static inline double joined(doubles s) {
  if constexpr (kDoubles > 4) s += turned<4, kDoubles>(s);
  if constexpr (kDoubles > 2) s += turned<2, kDoubles>(s);
  s += turned<1, kDoubles>(s);
  return s[0];
}
static inline double sum_of(vec v) { return joined(halves_in_double(v)); }

static inline Real largest_of(vec v) {
  if constexpr (L > 8) v = larger(v, turned<8, L>(v));
  if constexpr (L > 4) v = larger(v, turned<4, L>(v));
  if constexpr (L > 2) v = larger(v, turned<2, L>(v));
  v = larger(v, turned<1, L>(v));
  return v[0];
}

// e^x to 1 unit in the last place, measured in tests/engine/fast_exp_test.cpp.
//
//   x = n ln 2 + r, |r| <= ln 2 / 2          e^x = 2^n e^r          e^r = 1 + r + r²/2! + ... , to r^7 in float, r^13 in double
//
// n is rounded by adding 1.5 · 2^(bits of the fraction): the sum has no room for a fraction, and its last bits are n.
// (-ffast-math would cancel that away, and is refused.) n ln 2 is taken away in two parts, the first of so few bits that the
// product is exact. 2^n is multiplied by adding n to the exponent of e^r. Where e^x would be a denormal number the result is
// exactly 0: a masked score must leave nothing behind, and one denormal number slows a product 20 times.
constexpr bool kFloat = sizeof(Real) == 4;
constexpr int kFraction = kFloat ? 23 : 52;  // bits
constexpr Real kRounder = kFloat ? Real(12582912) : Real(6755399441055744);
constexpr Real kLog2e = Real(1.4426950408889634);
constexpr Real kLn2[] = {kFloat ? Real(0.693145752) : Real(0.693147180369123816490), kFloat ? Real(1.42860677e-6) : Real(1.90821492927058770002e-10)};
constexpr Real kExpLow = kFloat ? Real(-87.3365402) : Real(-708.39641853226408);   // the last normal number
constexpr Real kExpHigh = kFloat ? Real(88.7228317) : Real(709.78271289338397);    // beyond: infinity

struct Reduced {
  vec r;   // |r| <= ln 2 / 2
  bits n;  // n, shifted to where a number keeps its exponent
};

static inline Reduced reduced(vec x) {
  const vec t = x * splat(kLog2e) + splat(kRounder), n = t - splat(kRounder);
  return {(x - n * splat(kLn2[0])) - n * splat(kLn2[1]), reinterpret_cast<bits>(t) << kFraction};
}

// (e^r - 1) / r = 1 + r/2! + r²/3! + ...
static inline vec exp_series(vec r) {
  constexpr Real c[] = {Real(1. / 6227020800), Real(1. / 479001600), Real(1. / 39916800), Real(1. / 3628800), Real(1. / 362880), Real(1. / 40320),
                        Real(1. / 5040), Real(1. / 720), Real(1. / 120), Real(1. / 24), Real(1. / 6), Real(1. / 2), Real(1)};
  constexpr int first = kFloat ? 6 : 0;
  vec p = splat(c[first]);
#pragma GCC unroll 16
  for (int i = first + 1; i < 13; ++i) p = p * r + splat(c[i]);
  return p;
}

static inline vec exp_of(vec x) {
  const Reduced x2 = reduced(x);
  const vec p = exp_series(x2.r) * x2.r + splat(1);
  vec e = reinterpret_cast<vec>(reinterpret_cast<bits>(p) + x2.n);
  e = x < splat(kExpLow) ? vec{} : e;
  e = x > splat(kExpHigh) ? splat(Real(INFINITY)) : e;
  return x == x ? e : x;
}

// The same where nothing can overflow: x <= 88, in double 709. 2^n is a factor here, so a NaN passes by itself.
static inline vec exp_tame(vec x) {
  const Reduced x2 = reduced(x);
  const vec two_n = reinterpret_cast<vec>(reinterpret_cast<bits>(splat(1)) + x2.n);
  return x < splat(kExpLow) ? vec{} : (exp_series(x2.r) * x2.r + splat(1)) * two_n;
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
