// Functions of one number, for a vector of them: the fast twins of engine/functions.h, all made of e^x.
//
//   q = 1 / (1 + e), e = e^-|x|      sigmoid(x) = q or e q      sigmoid'(x) = e q²      never e^large, and no difference of like numbers
//
// They agree with the plain ones to a few units in the last place: tests/engine/fast_exp_test.cpp.
#pragma once

#include "engine/cpu/fast/simd.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

static inline vec magnitude(vec x) {
  constexpr Whole all_but_sign = kFloat ? Whole(0x7fffffff) : Whole(0x7fffffffffffffff);
  return reinterpret_cast<vec>(reinterpret_cast<ivec>(x) & all_but_sign);
}
static inline vec with_sign_of(vec x, vec positive) {
  const ivec sign = reinterpret_cast<ivec>(x) ^ reinterpret_cast<ivec>(magnitude(x));
  return reinterpret_cast<vec>(reinterpret_cast<ivec>(positive) | sign);
}
static inline vec root(vec x) {
  for (int i = 0; i < L; ++i) x[i] = std::sqrt(x[i]);
  return x;
}

// ---- values

static inline vec sigmoid(vec x) {
  const vec e = exp_tame(-magnitude(x));
  return (x < 0 ? e : splat(1)) / (splat(1) + e);
}

// tanh |x| = -m / (2 + m), m = e^(-2|x|) - 1 = 2^n (e^r - 1) + (2^n - 1): near 0 n is 0, and nothing cancels.
static inline vec tanh_of(vec x) {
  const vec y = splat(-2) * magnitude(x), low = splat(kFloat ? -30 : -60);  // below: m = -1
  const Reduced z = reduced(low > y ? low : y);
  const vec two_n = reinterpret_cast<vec>(reinterpret_cast<bits>(splat(1)) + z.n);
  const vec m = two_n * (exp_series(z.r) * z.r) + (two_n - splat(1));
  return with_sign_of(x, magnitude(m / (splat(2) + m)));
}

// ln(1 + e) = 2 artanh(z) = 2 (z + z³/3 + z⁵/5 + ...), z = e / (2 + e); for 0 <= e <= 1: z <= 1/3
static inline vec log1p_of(vec e) {
  const vec z = e / (splat(2) + e), z2 = z * z;
  vec p{};
#pragma GCC unroll 20
  for (int k = kFloat ? 7 : 16; k >= 0; --k) p = p * z2 + splat(Real(2) / (2 * k + 1));
  return z * p;
}
static inline vec softplus(vec x) { return larger(x, vec{}) + log1p_of(exp_tame(-magnitude(x))); }

static inline vec elu_plus_one(vec x) { return x > 0 ? x + splat(1) : exp_tame(x); }
static inline vec relu(vec x) { return x <= 0 ? vec{} : x; }
static inline vec silu(vec x) { return x * sigmoid(x); }

// 0.5 (1 + tanh u) = sigmoid(2u)      2u = 2 √(2/π) (x + 0.044715 x³)
constexpr Real kInner = Real(1.5957691216057308), kCube = Real(0.044715);
static inline vec twice_inner(vec x) { return x * (splat(kInner) + splat(kInner * kCube) * x * x); }
static inline vec gelu_tanh(vec x) { return x * sigmoid(twice_inner(x)); }

// Φ(x) = erfc(z) / 2, z = -x / √2, and erfc(z) = e^(-z²) F(z) / (1 + 2z) for z >= 0, F a Chebyshev series in (z - 3) / (z + 3).
// Shepherd and Laframboise 1981, "Chebyshev Approximation of (1 + 2x) exp(x²) erfc x in 0 <= x < ∞".
//
// The series is summed as a polynomial in q: half the work of Clenshaw's rule, and nothing cancels (Σ |a_k| = 1.8, F >= 1).
constexpr int kTerms = kFloat ? 12 : 26;
struct Polynomial {
  double a[kTerms];
};
static constexpr Polynomial in_powers(const double* c) {  // Σ c_k T_k = Σ a_k q^k      T_(k+1) = 2 q T_k - T_(k-1)
  Polynomial sum{}, T{{1}}, before{};                     // T_0
  for (int k = 0; k < kTerms; ++k) {
    Polynomial next{};
    for (int i = 0; i < kTerms; ++i) {
      sum.a[i] += c[k] * T.a[i];
      next.a[i] = (i ? (k ? 2 : 1) * T.a[i - 1] : 0) - (k ? before.a[i] : 0);
    }
    before = T;
    T = next;
  }
  return sum;
}

struct Normal {
  vec below, density;  // Φ and φ
};
static inline Normal normal(vec x) {
  constexpr double c[] = {1.17756257419656, 0.0053539045396156768, -0.093775503422842091, 0.05436652555744322, -0.018976596707845207,
                          0.0044534260614627116, -0.00063355317105531469, 1.7661719523171592e-5, 1.2841532864056671e-5, -2.0072285659059914e-6,
                          -1.8075227904148371e-7, 7.5498283438250928e-8, 1.8856685238386028e-9, -2.699519049798364e-9, -1.4600791199391049e-11,
                          1.036160744596949e-10, 1.475715976623473e-12, -4.2773400643969108e-12, -2.07922492859799e-13, 1.8134502003176962e-13,
                          1.9734255745447388e-14, -7.2879437375926732e-15, -1.5169878690228116e-15, 2.3514112258781404e-16, 1.0006111691821668e-16,
                          -2.0572528169538546e-18};
  constexpr Polynomial F_of = in_powers(c);
  const vec a = magnitude(x) * splat(Real(0.70710678118654752)), far = splat(64);  // further out e^(-z²) is 0
  const vec z = a > far ? far : a, above = z + splat(3), twice = splat(1) + splat(2) * z;
  const vec part = splat(1) / (above * twice);  // one division for both: it takes as long as ten products
  const vec q = (z - splat(3)) * twice * part;
  vec F = splat(Real(F_of.a[kTerms - 1]));
#pragma GCC unroll 32
  for (int k = kTerms - 2; k >= 0; --k) F = F * q + splat(Real(F_of.a[k]));
  const vec e = exp_tame(splat(Real(-0.5)) * x * x), tail = splat(Real(0.5)) * e * F * above * part;
  return {x > 0 ? splat(1) - tail : tail, splat(Real(0.39894228040143268)) * e};
}
static inline vec gelu(vec x) { return x * normal(x).below; }

// ---- slopes: of x, or where y tells enough, of y

static inline vec sigmoid_slope(vec x) {
  const vec e = exp_tame(-magnitude(x)), q = splat(1) / (splat(1) + e);
  return e * q * q;
}
static inline vec tanh_slope(vec x) { return splat(4) * sigmoid_slope(splat(2) * x); }  // 1 / cosh²
static inline vec relu_slope(vec x) { return x > 0 ? splat(1) : vec{}; }
static inline vec abs_slope(vec x) { return x > 0 ? splat(1) : x < 0 ? splat(-1) : vec{}; }
static inline vec log_slope(vec x) { return splat(1) / x; }
static inline vec gelu_slope(vec x) {
  const Normal n = normal(x);
  return n.below + x * n.density;
}

// (x s(u))' = s(u) + x s'(u) u', with s the sigmoid
static inline vec silu_slope(vec x) {
  const vec e = exp_tame(-magnitude(x)), q = splat(1) / (splat(1) + e);
  return (x < 0 ? e : splat(1)) * q + x * e * q * q;
}
static inline vec gelu_tanh_slope(vec x) {
  const vec u = twice_inner(x), e = exp_tame(-magnitude(u)), q = splat(1) / (splat(1) + e);
  const vec inner = splat(kInner) + splat(3 * kInner * kCube) * x * x;
  const vec bend = e == 0 ? vec{} : x * inner * (e * q * q);  // far out inner is infinite
  return (u < 0 ? e : splat(1)) * q + bend;
}

static inline vec same(vec y) { return y; }  // exp
static inline vec root_slope(vec y) { return splat(Real(0.5)) / y; }
static inline vec elu_plus_one_slope(vec y) { return y > 1 ? splat(1) : y; }

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
