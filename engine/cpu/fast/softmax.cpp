#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/softmax_row.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// One row at a time: what is read twice is still in the first cache.

void FastCpu::softmax_rows(Mat x, Mat y) {
  share(y.rows, 16.0 * y.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) softmax_row(x.row(i), y.row(i), y.cols);
  });
}

static void softmax_row_backward(const Real* y, const Real* dy, Real* dx, int n) {
  double dot = 0;
  for (int j = 0; j < n;) {
    vec s{};
    for (const int end = block_end(j, n); j < end; j += L) s += load_to(y + j, n - j, 0) * load_to(dy + j, n - j, 0);
    dot += sum_of(s);
  }
  const vec d = splat(Real(dot));
  for (int j = 0; j < n; j += L) {
    const vec g = load_to(y + j, n - j, 0) * (load_to(dy + j, n - j, 0) - d);
    store_to(dx + j, load_to(dx + j, n - j, 0) + g, n - j);
  }
}

void FastCpu::softmax_rows_backward(Mat y, Mat dy, Mat dx) {
  share(dx.rows, 6.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) softmax_row_backward(y.row(i), dy.row(i), dx.row(i), dx.cols);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
