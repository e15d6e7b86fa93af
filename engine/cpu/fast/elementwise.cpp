#include <cstring>

#include "engine/cpu/fast/each.h"
#include "engine/cpu/fast/fast.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// One formula a kernel; engine/cpu/fast/each.h does the rest. Nothing here is limited by arithmetic: memory sets the pace.

void FastCpu::copy(Mat x, Mat y) {
  share_numbers(y, one_row(x) && one_row(y), 2, [&](int i, std::ptrdiff_t from, std::ptrdiff_t n) {
    if (n) std::memmove(y.row(i) + from, x.row(i) + from, std::size_t(n) * sizeof(Real));
  });
}

void FastCpu::fill(Mat y, Real value) {
  const bool zero = value == 0 && !std::signbit(value);  // the library's memset does not read what it overwrites
  share_numbers(y, one_row(y), 1, [&](int i, std::ptrdiff_t from, std::ptrdiff_t n) {
    Real* p = y.row(i) + from;
    if (zero && n > L) {
      std::memset(p, 0, std::size_t(n) * sizeof(Real));
      return;
    }
    std::ptrdiff_t k = 0;
    for (; k + L <= n; k += L) store(p + k, value - vec{});
    for (; k < n; ++k) p[k] = value;
  });
}

void FastCpu::add(Mat a, Mat b, Mat y) {
  each(y, [](auto p, auto q) { return p + q; }, a, b);
}
void FastCpu::sub(Mat a, Mat b, Mat y) {
  each(y, [](auto p, auto q) { return p - q; }, a, b);
}
void FastCpu::mul(Mat a, Mat b, Mat y) {
  each(y, [](auto p, auto q) { return p * q; }, a, b);
}
void FastCpu::div(Mat a, Mat b, Mat y) {
  each(y, [](auto p, auto q) { return p / q; }, a, b);
}
void FastCpu::scale(Mat x, Real s, Mat y) {
  each(y, [s](auto p) { return s * p; }, x);
}
void FastCpu::add_number(Mat x, Real s, Mat y) {
  each(y, [s](auto p) { return p + s; }, x);
}
void FastCpu::add_scalar(Mat x, Mat s, Mat y) { add_number(x, s.data[0], y); }

void FastCpu::add_scaled(Real s, Mat x, Mat y) {
  each(y, [s](auto p, auto old) { return old + s * p; }, x, y);
}
void FastCpu::add_product(Mat a, Mat b, Mat y) {
  each(y, [](auto p, auto q, auto old) { return old + p * q; }, a, b, y);
}

// A quotient is left out, not multiplied by 0, where the rule says so: 0 / 0 would be NaN.
void FastCpu::add_quotient(Mat a, Mat b, Mat y) {
  each(y, [](auto p, auto q, auto old) { return q != Real(0) ? old + p / q : old; }, a, b, y);
}
void FastCpu::div_backward_left(Mat dy, Mat b, Mat da) {
  each(da, [](auto d, auto q, auto old) { return d != Real(0) ? old + d / q : old; }, dy, b, da);
}
void FastCpu::div_backward_right(Mat dy, Mat y, Mat b, Mat db) {
  each(db, [](auto d, auto r, auto q, auto old) { return d != Real(0) ? old - d * r / q : old; }, dy, y, b, db);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
