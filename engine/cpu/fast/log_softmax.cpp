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
      const Exponentials e = exponentials(x.row(i), nullptr, x.cols);
      y.row(i)[0] = e.sum == 0 ? kNone : Real(e.m + std::log(e.sum));
    }
  });
}

void FastCpu::log_sum_exp_backward(Mat x, Mat dy, Mat dx) {
  share(dx.rows, 28.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const int n = dx.cols;
      const Exponentials e = exponentials(x.row(i), nullptr, n);
      if (e.sum == 0) continue;
      const vec m = splat(e.m), part = splat(Real(dy.row(i)[0] / e.sum));
      Real* out = dx.row(i);
      for (int j = 0; j < n; j += L) {
        const vec p = exp_of(load_to(x.row(i) + j, n - j, kNone) - m) * part;
        store_to(out + j, load_to(out + j, n - j, 0) + p, n - j);
      }
    }
  });
}

void FastCpu::log_softmax_rows(Mat x, Mat y) {
  share(x.rows, 16.0 * x.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const int n = x.cols;
      const Exponentials e = exponentials(x.row(i), nullptr, n);
      const bool hidden = e.sum == 0;
      const vec m = splat(hidden ? 0 : e.m), l = splat(hidden ? 0 : Real(std::log(e.sum)));
      for (int j = 0; j < n; j += L) store_to(y.row(i) + j, load_to(x.row(i) + j, n - j, 0) - m - l, n - j);
    }
  });
}

static void log_softmax_row_backward(const Real* y, const Real* dy, Real* dx, int n) {
  if (largest_in(y, n) == kNone && !has_nan(y, n)) return;
  double sum = 0;
  for (int j = 0; j < n;) {
    vec s{};
    for (const int end = block_end(j, n); j < end; j += L) s += load_to(dy + j, n - j, 0);
    sum += sum_of(s);
  }
  const vec total = splat(Real(sum));
  for (int j = 0; j < n; j += L) {
    const vec g = load_to(dy + j, n - j, 0) - exp_of(load_to(y + j, n - j, 0)) * total;
    store_to(dx + j, load_to(dx + j, n - j, 0) + g, n - j);
  }
}

void FastCpu::log_softmax_rows_backward(Mat y, Mat dy, Mat dx) {
  share(dx.rows, 16.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) log_softmax_row_backward(y.row(i), dy.row(i), dx.row(i), dx.cols);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
