// Functions of one number, value beside slope: every backend and every op of this kind reads them here.
//
//   y = f(x)      dx += dy · f'(x)      the slope may be written with x, with y, or with both
//
// A slope is exact also where its textbook form is not: 1 - tanh² is 0 in floating point long before the slope is.
#pragma once

#include <cmath>

#include "engine/both.h"
#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {

enum class Function {
  exp, log, sin, cos, sqrt, abs, tanh, sigmoid, softplus, elu_plus_one, relu, gelu, gelu_tanh, silu,
};

GLASS_BOTH inline Real sigmoid_of(Real x) {  // never e^large
  const Real e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

// Φ(x), the chance that a normal number is below x, and its density φ(x).
GLASS_BOTH inline Real normal_below(Real x) { return Real(0.5) * std::erfc(-x * Real(0.70710678118654752)); }
GLASS_BOTH inline Real normal_density(Real x) { return Real(0.39894228040143268) * std::exp(Real(-0.5) * x * x); }

GLASS_BOTH inline Real gelu_inner(Real x) { return Real(0.79788456080286536) * (x + Real(0.044715) * x * x * x); }  // √(2/π) (x + 0.044715 x³)

GLASS_BOTH inline Real value(Function f, Real x) {
  switch (f) {
    case Function::exp: return std::exp(x);
    case Function::log: return std::log(x);
    case Function::sin: return std::sin(x);
    case Function::cos: return std::cos(x);
    case Function::sqrt: return std::sqrt(x);
    case Function::abs: return std::fabs(x);
    case Function::tanh: return std::tanh(x);
    case Function::sigmoid: return sigmoid_of(x);
    case Function::softplus: return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
    case Function::elu_plus_one: return x > 0 ? x + 1 : std::exp(x);
    case Function::relu: return x <= 0 ? 0 : x;  // a NaN is passed on
    case Function::gelu: return x * normal_below(x);
    case Function::gelu_tanh: return Real(0.5) * x * (1 + std::tanh(gelu_inner(x)));
    case Function::silu: return x * sigmoid_of(x);
  }
  return 0;
}

GLASS_BOTH inline Real slope(Function f, Real x, Real y) {
  switch (f) {
    case Function::exp: return y;
    case Function::log: return 1 / x;
    case Function::sin: return std::cos(x);
    case Function::cos: return -std::sin(x);
    case Function::sqrt: return Real(0.5) / y;
    case Function::abs: return x > 0 ? Real(1) : x < 0 ? Real(-1) : Real(0);  // 0 at the kink
    case Function::tanh: {
      const Real s = 1 / std::cosh(x);
      return s * s;
    }
    case Function::sigmoid: return sigmoid_of(x) * sigmoid_of(-x);
    case Function::softplus: return sigmoid_of(x);
    case Function::elu_plus_one: return x > 0 ? Real(1) : y;  // no kink: 1 from both sides
    case Function::relu: return x > 0 ? Real(1) : Real(0);  // 0 at the kink
    case Function::gelu: return normal_below(x) + x * normal_density(x);
    case Function::gelu_tanh: {
      const Real s = 1 / std::cosh(gelu_inner(x));
      const Real inner = Real(0.79788456080286536) * (1 + 3 * Real(0.044715) * x * x);
      const Real bend = s == 0 ? 0 : Real(0.5) * x * s * s * inner;  // far out inner is infinite
      return Real(0.5) * (1 + std::tanh(gelu_inner(x))) + bend;
    }
    case Function::silu: return sigmoid_of(x) + x * sigmoid_of(x) * sigmoid_of(-x);
  }
  return 0;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
