#include <cstring>

#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/softmax_row.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// A few rows at a time: what is read twice is still in the first cache.

void FastCpu::softmax_rows(Mat x, Mat y) {
  if (x.cols <= kShort) return CpuBackend::softmax_rows(x, y);
  share_fours(y.rows, 16.0 * y.cols, [&](int first, int last) {
    Exponentials e[kTogether];
    by_four(first, last, [&](int i) { softmax<kTogether>(x, y, i, e); }, [&](int i) { softmax<1>(x, y, i, e); });
  });
}

// kDoubles numbers from p on, in double
static inline doubles load_in_double(const Real* p) {
  typedef Real narrow __attribute__((vector_size(kDoubles * sizeof(Real))));  // half a vector of floats, or a vector of doubles
  narrow v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, doubles);
}

// Σ y_j dy_j, products and sums in double; dx is fetched meanwhile.
static inline double dot_of(const Real* y, const Real* dy, const Real* dx, int n) {
  doubles s[2] = {};
  int j = 0;
  for (; j + 2 * kDoubles <= n; j += 2 * kDoubles) {
    __builtin_prefetch(dx + j, 1);
    s[0] += load_in_double(y + j) * load_in_double(dy + j);
    s[1] += load_in_double(y + j + kDoubles) * load_in_double(dy + j + kDoubles);
  }
  double dot = joined(s[0] + s[1]);
  for (; j < n; ++j) dot += double(y[j]) * dy[j];
  return dot;
}

// Where one weight is nearly 1, dy - y · dy cancels: the dot product is taken in double, and in two parts. Each of the two passes
// over a row fetches what the next one needs, so that memory never rests. next_y: the way to the next row of y.
static void softmax_row_backward(const Real* y, const Real* dy, Real* dx, int n, int next_y, int next_dy, bool accumulate) {
  const double dot = dot_of(y, dy, dx, n);
  const vec d = splat(Real(dot)), rest = splat(Real(dot - double(Real(dot))));
  by_vector(0, n, [&](int j, int left) {
    __builtin_prefetch(y + j + next_y);
    __builtin_prefetch(dy + j + next_dy);
    const vec g = load_to(y + j, left, 0) * (load_to(dy + j, left, 0) - d - rest);
    store_to(dx + j, start_of(dx + j, left, accumulate) + g, left);
  });
}

void FastCpu::softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) {
  if (dx.cols <= kShort) return CpuBackend::softmax_rows_backward(y, dy, dx, accumulate);
  share(dx.rows, 6.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) softmax_row_backward(y.row(i), dy.row(i), dx.row(i), dx.cols, y.ld, dy.ld, accumulate);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
