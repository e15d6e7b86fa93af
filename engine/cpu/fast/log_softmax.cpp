#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/softmax_row.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// lse = m + l, l = ln Σ_j e^(x_j - m); x - lse is taken as (x - m) - l. A row of nothing but -inf: -inf, and no gradient.

void FastCpu::log_sum_exp(Mat x, Mat y) {
  share(x.rows, 14.0 * x.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      Exponentials e;
      exponentials<1>(x, nullptr, i, &e);
      y.row(i)[0] = e.sum == 0 ? kNone : Real(e.m + std::log(e.sum));
    }
  });
}

void FastCpu::log_sum_exp_backward(Mat x, Mat dy, Mat dx) {
  share(dx.rows, 28.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const int n = dx.cols;
      Exponentials e;
      exponentials<1>(x, nullptr, i, &e);
      if (e.sum == 0) continue;
      const vec m = splat(e.m), part = splat(Real(dy.row(i)[0] / e.sum));
      Real* out = dx.row(i);
      const Real* in = x.row(i);
      by_vector(0, n, [&](int j, int left) {
        const vec p = exp_tame(load_to(in + j, left, kNone) - m) * part;
        store_to(out + j, load_to(out + j, left, 0) + p, left);
      });
    }
  });
}

void FastCpu::log_softmax_rows(Mat x, Mat y) {
  share(x.rows, 16.0 * x.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const int n = x.cols;
      Exponentials e;
      exponentials<1>(x, nullptr, i, &e);
      const vec m = splat(e.m), l = splat(e.sum == 0 ? 0 : Real(std::log(e.sum)));
      const Real* in = x.row(i);
      Real* out = y.row(i);
      by_vector(0, n, [&](int j, int left) { store_to(out + j, load_to(in + j, left, 0) - m - l, left); });
    }
  });
}

static void log_softmax_row_backward(const Real* y, const Real* dy, Real* dx, int n, bool accumulate) {
  bool hidden = true;
  for (int j = 0; j < n && hidden; ++j) hidden = y[j] == kNone;
  if (hidden) {
    for (int j = 0; j < n && !accumulate; ++j) dx[j] = 0;
    return;
  }
  doubles sum{};
  for (int j0 = 0; j0 < n; j0 += kBlock) {
    vec s{};
    by_vector(j0, block_end(j0, n), [&](int j, int left) { s += load_to(dy + j, left, 0); });
    sum += halves_in_double(s);
  }
  const vec total = splat(Real(joined(sum)));
  by_vector(0, n, [&](int j, int left) {
    const vec g = load_to(dy + j, left, 0) - exp_tame(load_to(y + j, left, 0)) * total;
    store_to(dx + j, start_of(dx + j, left, accumulate) + g, left);
  });
}

void FastCpu::log_softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) {
  share(dx.rows, 16.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) log_softmax_row_backward(y.row(i), dy.row(i), dx.row(i), dx.cols, accumulate);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
