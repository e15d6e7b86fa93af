// Softmax of one row, for every kernel that needs it.
#pragma once

#include "engine/cpu/fast/rows.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

struct Exponentials {
  Real m;      // the largest of the row; 0 for a row of nothing but -inf
  double sum;  // Σ_j e^(x_j - m); 0 for a row of nothing but -inf
};

// y: where the exponentials go, or nullptr. A NaN may be lost on the way to m, but not on that to the sum.
template <int rows>
static inline void exponentials(const Mat& x, const Mat* y, int i, Exponentials* e) {
  const int n = x.cols;
  const Real* in[rows];
  Real* out[rows];
  vec top[rows], m[rows];
  for (int k = 0; k < rows; ++k) {
    in[k] = x.row(i + k);
    out[k] = y ? y->row(i + k) : nullptr;
    top[k] = splat(kNone);
  }
  by_vector(0, n, [&](int j, int left) {
#pragma GCC unroll 4
    for (int k = 0; k < rows; ++k) top[k] = larger(top[k], load_to(in[k] + j, left, kNone));
  });
  for (int k = 0; k < rows; ++k) {
    const Real largest = largest_of(top[k]);
    e[k] = {largest == kNone ? 0 : largest, 0};
    m[k] = splat(e[k].m);
  }
  doubles sum[rows] = {};
  for (int j0 = 0; j0 < n; j0 += kBlock) {
    vec s[rows] = {};
    by_vector(j0, block_end(j0, n), [&](int j, int left) {
#pragma GCC unroll 4
      for (int k = 0; k < rows; ++k) {
        __builtin_prefetch(in[k] + j + rows * std::ptrdiff_t(x.ld));  // the rows that come next: the third cache is far
        if (y) __builtin_prefetch(out[k] + j + rows * std::ptrdiff_t(y->ld), 1);
        const vec p = exp_tame(load_to(in[k] + j, left, kNone) - m[k]);
        if (y) store_to(out[k] + j, p, left);
        s[k] += p;
      }
    });
    for (int k = 0; k < rows; ++k) sum[k] += halves_in_double(s[k]);
  }
  for (int k = 0; k < rows; ++k) e[k].sum = joined(sum[k]);
}

// Three passes over rows while they are in the first cache: the maximum, the exponentials and their sum, the division.
template <int rows>
static inline void softmax(const Mat& x, const Mat& y, int i, Exponentials* e) {
  exponentials<rows>(x, &y, i, e);
  for (int k = 0; k < rows; ++k) {
    const vec part = splat(e[k].sum == 0 ? 0 : Real(1 / e[k].sum));
    Real* out = y.row(i + k);
    by_vector(0, y.cols, [&](int j, int left) { store_to(out + j, load_to(out + j, left, 0) * part, left); });
  }
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
