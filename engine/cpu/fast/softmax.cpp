#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/simd.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// One row at a time, three passes over it while it is in the first cache: the maximum, the exponentials and their sum, the
// division. A row of nothing but -inf has the maximum -inf, and is left exactly zero.

static void softmax_row(const Real* x, Real* y, int n) {
  const Real none = -Real(INFINITY);
  vec top = splat(none);
  int j = 0;
  for (; j + L <= n; j += L) top = larger(top, load(x + j));
  if (j < n) top = larger(top, load_some(x + j, n - j, none));
  const Real m = largest_of(top);
  if (m == none) {
    bool nan = false;
    for (int k = 0; k < n; ++k) nan |= x[k] != x[k];
    for (int k = 0; k < n; ++k) y[k] = nan ? x[0] - x[0] : 0;
    return;
  }
  vec sum{};
  for (j = 0; j + L <= n; j += L) {
    const vec e = exp_of(load(x + j) - splat(m));
    sum += e;
    store(y + j, e);
  }
  if (j < n) {
    const vec e = exp_of(load_some(x + j, n - j, none) - splat(m));
    sum += e;
    store_some(y + j, e, n - j);
  }
  const vec part = splat(Real(1 / sum_of(sum)));
  for (j = 0; j + L <= n; j += L) store(y + j, load(y + j) * part);
  for (; j < n; ++j) y[j] *= part[0];
}

void FastCpu::softmax_rows(Mat x, Mat y) {
  share(y.rows, 16.0 * y.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) softmax_row(x.row(i), y.row(i), y.cols);
  });
}

static void softmax_row_backward(const Real* y, const Real* dy, Real* dx, int n) {
  vec dots{};
  int j = 0;
  for (; j + L <= n; j += L) dots += load(y + j) * load(dy + j);
  double dot = sum_of(dots);
  for (; j < n; ++j) dot += double(y[j]) * dy[j];
  const vec d = splat(Real(dot));
  for (j = 0; j + L <= n; j += L) store(dx + j, load(dx + j) + load(y + j) * (load(dy + j) - d));
  for (; j < n; ++j) dx[j] += y[j] * (dy[j] - d[0]);
}

void FastCpu::softmax_rows_backward(Mat y, Mat dy, Mat dx) {
  share(dx.rows, 6.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) softmax_row_backward(y.row(i), dy.row(i), dx.row(i), dx.cols);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
