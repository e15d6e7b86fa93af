// Softmax of one row, for every kernel that needs it.
#pragma once

#include "engine/cpu/fast/rows.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

struct Exponentials {
  Real m;      // the largest of the row
  double sum;  // Σ_j e^(x_j - m); 0 for a row of nothing but -inf
};

// y: where the exponentials go, or nullptr
static inline Exponentials exponentials(const Real* x, Real* y, int n) {
  const Real m = largest_in(x, n);
  if (m == kNone && !has_nan(x, n)) return {m, 0};
  double sum = 0;
  for (int j = 0; j < n;) {
    vec s{};
    for (const int end = block_end(j, n); j < end; j += L) {
      const vec e = exp_of(load_to(x + j, n - j, kNone) - splat(m));
      if (y) store_to(y + j, e, n - j);
      s += e;
    }
    sum += sum_of(s);
  }
  return {m, sum};
}

// Three passes over the row while it is in the first cache: the maximum, the exponentials and their sum, the division.
static inline Exponentials softmax_row(const Real* x, Real* y, int n) {
  const Exponentials e = exponentials(x, y, n);
  if (e.sum == 0) {
    for (int j = 0; j < n; ++j) y[j] = 0;
    return e;
  }
  const vec part = splat(Real(1 / e.sum));
  for (int j = 0; j < n; j += L) store_to(y + j, load_to(y + j, n - j, 0) * part, n - j);
  return e;
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
