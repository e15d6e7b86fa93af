#include "engine/cpu/fast/each.h"
#include "engine/cpu/fast/fast.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// A row against every row, y_ij = f(x_ij, r_j), and a column against every column, y_ij = f(x_ij, c_i). Rows are shared among threads.

template <class F, class... Mats>
static inline void with_row(Mat y, F f, Mat r, Mats... x) {
  share_rows(y, 1.0 + sizeof...(x), [&](int i) { each_of_row(y.cols, y.row(i), f, r.data, x.row(i)...); });
}

template <class F, class... Mats>
static inline void with_col(Mat y, F f, Mat c, Mats... x) {
  share_rows(y, 1.0 + sizeof...(x), [&](int i) {
    const Real s = c.row(i)[0];
    each_of_row(y.cols, y.row(i), [f, s](auto... p) { return f(s, p...); }, x.row(i)...);
  });
}

void FastCpu::add_row(Mat x, Mat r, Mat y) {
  with_row(y, [](auto s, auto p) { return p + s; }, r, x);
}
void FastCpu::sub_row(Mat x, Mat r, Mat y) {
  with_row(y, [](auto s, auto p) { return p - s; }, r, x);
}
void FastCpu::mul_row(Mat x, Mat r, Mat y) {
  with_row(y, [](auto s, auto p) { return p * s; }, r, x);
}
void FastCpu::div_row(Mat x, Mat r, Mat y) {
  with_row(y, [](auto s, auto p) { return p / s; }, r, x);
}
void FastCpu::add_mul_row(Mat x, Mat r, Mat y) {
  with_row(y, [](auto s, auto p, auto old) { return old + p * s; }, r, x, y);
}
void FastCpu::div_row_backward(Mat dy, Mat r, Mat dx) {
  with_row(dx, [](auto s, auto d, auto old) { return d != Real(0) ? old + d / s : old; }, r, dy, dx);
}

void FastCpu::add_col(Mat x, Mat c, Mat y) {
  with_col(y, [](Real s, auto p) { return p + s; }, c, x);
}
void FastCpu::sub_col(Mat x, Mat c, Mat y) {
  with_col(y, [](Real s, auto p) { return p - s; }, c, x);
}
void FastCpu::mul_col(Mat x, Mat c, Mat y) {
  with_col(y, [](Real s, auto p) { return p * s; }, c, x);
}
void FastCpu::div_col(Mat x, Mat c, Mat y) {
  with_col(y, [](Real s, auto p) { return p / s; }, c, x);
}
void FastCpu::add_mul_col(Mat x, Mat c, Mat y) {
  with_col(y, [](Real s, auto p, auto old) { return old + p * s; }, c, x, y);
}
void FastCpu::div_col_backward(Mat dy, Mat c, Mat dx) {
  with_col(dx, [](Real s, auto d, auto old) { return d != Real(0) ? old + d / s : old; }, c, dy, dx);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
