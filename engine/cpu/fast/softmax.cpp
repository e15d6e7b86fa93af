#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/softmax_row.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// A few rows at a time: what is read twice is still in the first cache.

void FastCpu::softmax_rows(Mat x, Mat y) {
  if (x.cols <= kShort) return CpuBackend::softmax_rows(x, y);
  share(y.rows, 16.0 * y.cols, [&](int first, int last) {
    Exponentials e[kTogether];
    by_four(first, last, [&](int i) { softmax<kTogether>(x, y, i, e); }, [&](int i) { softmax<1>(x, y, i, e); });
  });
}

// Where one weight is nearly 1, dy - y · dy cancels: the dot product is taken in double, and in two parts.
static void softmax_row_backward(const Real* y, const Real* dy, Real* dx, int n, bool accumulate) {
  const double dot = dot_in_double(y, dy, n);
  const vec d = splat(Real(dot)), rest = splat(Real(dot - double(Real(dot))));
  by_vector(0, n, [&](int j, int left) {
    const vec g = load_to(y + j, left, 0) * (load_to(dy + j, left, 0) - d - rest);
    store_to(dx + j, start_of(dx + j, left, accumulate) + g, left);
  });
}

void FastCpu::softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) {
  if (dx.cols <= kShort) return CpuBackend::softmax_rows_backward(y, dy, dx, accumulate);
  share(dx.rows, 6.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) softmax_row_backward(y.row(i), dy.row(i), dx.row(i), dx.cols, accumulate);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
