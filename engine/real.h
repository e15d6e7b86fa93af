// The number type. The library is compiled twice from one source: glass_f32 (float) and glass_f64
// (double), the way pbrt does with its Float. A source file sees exactly one of them.
#pragma once

#ifndef GLASS_REAL
#error "compile through CMake: the target glass_f32 or glass_f64 defines GLASS_REAL and GLASS_PRECISION"
#endif

// With -ffast-math the compiler assumes that NaN does not exist: isnan(x) becomes false, and the
// first wrong number can no longer be found.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "glassgrad refuses -ffast-math and -ffinite-math-only: they make NaN invisible"
#endif

namespace glass {
inline namespace GLASS_PRECISION {

using Real = GLASS_REAL;

}  // namespace GLASS_PRECISION
}  // namespace glass
