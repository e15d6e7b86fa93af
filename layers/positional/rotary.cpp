#include "layers/positional/rotary.h"

#include <cmath>

#include "engine/errors.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

Var rotary_steps(Var X, const Rotary& how) {
  const int n = X.shape().rows, C = X.shape().cols, dims = how.turned(C);
  if (dims % 2 != 0 || dims > C) {
    throw ShapeError("rotary: " + std::to_string(dims) + " of " + std::to_string(C) +
                     " channels cannot be turned in pairs");
  }
  Matrix cos(Shape{n, C}), sin(Shape{n, C}), J(Shape{C, C});
  for (int r = 0; r < n; ++r)
    for (int c = dims; c < C; ++c) cos(r, c) = 1;
  for (int i = 0; i < dims / 2; ++i) {
    const bool half = how.pairs == Rotary::Pairs::half;
    const int a = half ? i : 2 * i, b = half ? i + dims / 2 : 2 * i + 1;
    J(b, a) = -1, J(a, b) = 1;
    for (int r = 0; r < n; ++r) {
      const double angle = (double(how.first) + r) * how.spacing * std::pow(how.base, -2.0 * i / dims);
      cos(r, a) = cos(r, b) = Real(std::cos(angle));
      sin(r, a) = sin(r, b) = Real(std::sin(angle));
    }
  }
  Tape& tape = *X.tape;
  const Var swapped = matmul(X, tape.constant(J, "J")).named("X J");
  return add(mul(X, tape.constant(cos, "cos")), mul(swapped, tape.constant(sin, "sin"))).named("turned");
}

Var RotaryAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed);
  V = hide_keys(V, call.allowed);
  Rotary of_queries = how;
  of_queries.first += K.shape().rows - Q.shape().rows;
  const Var q = rotary(Q, of_queries).named("Q turned"), k = rotary(K, how).named("K turned");
  return mix(scaled_scores(q, k, default_scale(Q)), V, call);
}

double ntk_base(double base, double times, int C) {
  if (C <= 2) throw ShapeError("ntk_base: with " + std::to_string(C) + " channels there is no slow pair to slow down");
  return base * std::pow(times, double(C) / (C - 2));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
