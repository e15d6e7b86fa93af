// Number by number: y_k = f(a_k, b_k, ...). A kernel says what f is; which numbers form a vector, and which thread takes them, is said here.
//
// f is called with vectors, and with single numbers at the end of a row, so it is written for both: [](auto a, auto b) { return a + b; }
// An operand may be y itself: numbers are read before they are written.
#pragma once

#include <cstddef>

#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/simd.h"
#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

constexpr int kChunk = 4096;  // numbers that one thread takes at once from a long row

// Without gaps between its rows a matrix is one long row.
static inline bool one_row(Mat m) { return m.ld == m.cols || m.rows <= 1; }

constexpr int kSmall = 64;  // numbers: so few cost less than the question who takes them
static inline bool small(Mat m) { return std::ptrdiff_t(m.rows) * m.cols <= kSmall; }

// Calls part(i) for each row of y.
template <class Part>
static inline void share_rows(Mat y, double work, Part part) {
  const auto rows = [&](int first, int last) {
    for (int i = first; i < last; ++i) part(i);
  };
  if (small(y)) rows(0, y.rows);
  else share(y.rows, work * y.cols, rows);
}

// Calls part(i, from, n) for the numbers from to from + n of row i, until all are done.
template <class Part>
static inline void share_numbers(Mat y, bool flat, double work, Part part) {
  if (!flat) {
    share_rows(y, work, [&](int i) { part(i, std::ptrdiff_t(0), std::ptrdiff_t(y.cols)); });
    return;
  }
  const std::ptrdiff_t n = std::ptrdiff_t(y.rows) * y.cols;
  if (n <= kChunk) {
    part(0, std::ptrdiff_t(0), n);
    return;
  }
  share(int((n + kChunk - 1) / kChunk), work * kChunk, [&](int first, int last) {
    const std::ptrdiff_t from = std::ptrdiff_t(first) * kChunk, to = std::ptrdiff_t(last) * kChunk;
    part(0, from, (to < n ? to : n) - from);
  });
}

template <class F, class... Numbers>
static inline void each_of_row(std::ptrdiff_t n, Real* y, F f, const Numbers*... x) {
  std::ptrdiff_t k = 0;
  for (; k + L <= n; k += L) store(y + k, f(load(x + k)...));
  for (; k < n; ++k) y[k] = f(x[k]...);
}

template <class F, class... Mats>
static inline void each(Mat y, F f, Mats... x) {
  share_numbers(y, one_row(y) && (one_row(x) && ...), 1.0 + sizeof...(x), [&](int i, std::ptrdiff_t from, std::ptrdiff_t n) {
    each_of_row(n, y.row(i) + from, f, (x.row(i) + from)...);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
