#include <cmath>

#include "engine/cpu/fast/each.h"
#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/wide.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// Sums in double, as in the plain twin, but many side by side. A long sum is cut into parts; how many depends on the shape alone
// and they are joined in order, so the result has the same bits for any number of threads.

static constexpr int kParts = 32;
static constexpr int kSide = 4;  // vectors of sums that run side by side: an addition takes four cycles

enum class Of { numbers, products };

template <Of of>
static inline wide term(const Real* a, const Real* b) {
  if constexpr (of == Of::numbers) return load_wide(a);
  else return load_wide(a) * load_wide(b);
}
template <Of of>
static inline double one_term(const Real* a, const Real* b) {
  if constexpr (of == Of::numbers) return *a;
  else return double(*a) * *b;
}

// Σ a_k, or Σ a_k b_k
template <Of of>
static inline double sum_of_row(std::ptrdiff_t n, const Real* a, const Real* b) {
  wide sum[kSide] = {};
  std::ptrdiff_t k = 0;
  for (; k + kSide * W <= n; k += kSide * W) {
#pragma GCC unroll 4
    for (int q = 0; q < kSide; ++q) sum[q] += term<of>(a + k + q * W, b + k + q * W);
  }
  for (; k + W <= n; k += W) sum[0] += term<of>(a + k, b + k);
  double s = n < W ? 0 : sum_of_wide((sum[0] + sum[1]) + (sum[2] + sum[3]));
  for (; k < n; ++k) s += one_term<of>(a + k, b + k);
  return s;
}

static inline int parts_of(std::ptrdiff_t n, int least) { return n < least ? 1 : n < std::ptrdiff_t(least) * kParts ? int(n / least) : kParts; }

template <Of of>
static double sum_of_all(Mat a, Mat b) {
  if (small(a)) {
    double total = 0;
    for (int i = 0; i < a.rows; ++i) total += sum_of_row<of>(a.cols, a.row(i), b.row(i));
    return total;
  }
  const bool flat = one_row(a) && one_row(b);
  const std::ptrdiff_t rows = flat ? 1 : a.rows, length = flat ? std::ptrdiff_t(a.rows) * a.cols : a.cols;
  const int parts = parts_of(flat ? length : rows, flat ? kChunk : 16);
  double sums[kParts];
  share(parts, 2.0 * double(rows) * double(length) / parts, [&](int first, int last) {
    for (int p = first; p < last; ++p) {
      sums[p] = 0;
      if (flat) {
        const std::ptrdiff_t from = length * p / parts, to = length * (p + 1) / parts;
        sums[p] = sum_of_row<of>(to - from, a.data + from, b.data + from);
      } else {
        const std::ptrdiff_t from = rows * p / parts, to = rows * (p + 1) / parts;
        for (std::ptrdiff_t i = from; i < to; ++i) sums[p] += sum_of_row<of>(length, a.row(int(i)), b.row(int(i)));
      }
    }
  });
  double total = 0;
  for (int p = 0; p < parts; ++p) total += sums[p];
  return total;
}

void FastCpu::sum(Mat x, Real s, Mat y) { y.data[0] = Real(s * sum_of_all<Of::numbers>(x, x)); }
void FastCpu::add_sum(Mat x, Mat y) { y.data[0] += Real(sum_of_all<Of::numbers>(x, x)); }
void FastCpu::add_dot(Mat a, Mat b, Mat y) { y.data[0] += Real(sum_of_all<Of::products>(a, b)); }
void FastCpu::norm(Mat x, Mat y) { y.data[0] = Real(std::sqrt(sum_of_all<Of::products>(x, x))); }

template <Of of>
static void row_sums(Real s, Mat a, Mat b, Mat y) {
  share_rows(a, 2, [&](int i) { y.row(i)[0] += Real(s * sum_of_row<of>(a.cols, a.row(i), b.row(i))); });
}

void FastCpu::add_row_sums(Real s, Mat x, Mat y) { row_sums<Of::numbers>(s, x, x, y); }
void FastCpu::add_row_dots(Mat a, Mat b, Mat y) { row_sums<Of::products>(1, a, b, y); }

// Columns: the sums of a strip of columns stay in registers while the rows of a part go by, so nothing is transposed and every
// number is read once. Parts are ranges of rows, sums: parts x C.
static constexpr int kStrip = kSide * W;

template <Of of>
static void strip_sums(Mat a, Mat b, std::ptrdiff_t from, std::ptrdiff_t to, int j, double* sums) {
  const int left = a.cols - j;
  wide sum[kSide] = {};
  if (left >= kStrip) {
    for (std::ptrdiff_t i = from; i < to; ++i) {
#pragma GCC unroll 4
      for (int q = 0; q < kSide; ++q) sum[q] += term<of>(a.row(int(i)) + j + q * W, b.row(int(i)) + j + q * W);
    }
    for (int q = 0; q < kSide; ++q)
      for (int k = 0; k < W; ++k) sums[j + q * W + k] = sum[q][k];
    return;
  }
  for (int k = j; k < a.cols; ++k) sums[k] = 0;
  for (std::ptrdiff_t i = from; i < to; ++i)
    for (int k = j; k < a.cols; ++k) sums[k] += one_term<of>(a.row(int(i)) + k, b.row(int(i)) + k);
}

template <Of of>
static void col_sums(Real s, Mat a, Mat b, Mat y) {
  const int parts = parts_of(a.rows, 64), strips = (a.cols + kStrip - 1) / kStrip;
  double* sums = reinterpret_cast<double*>(thread_scratch(std::size_t(parts) * std::size_t(a.cols) * sizeof(double) / sizeof(Real)));
  share(parts * strips, 2.0 * double(a.rows) * a.cols / (parts * strips), [&](int first, int last) {
    for (int item = first; item < last; ++item) {
      const std::ptrdiff_t p = item / strips, rows = a.rows;
      strip_sums<of>(a, b, rows * p / parts, rows * (p + 1) / parts, item % strips * kStrip, sums + p * a.cols);
    }
  });
  for (int j = 0; j < a.cols; ++j) {
    double total = 0;
    for (int p = 0; p < parts; ++p) total += sums[std::ptrdiff_t(p) * a.cols + j];
    y.data[j] += Real(s * total);
  }
}

void FastCpu::add_col_sums(Real s, Mat x, Mat y) {
  if (small(x)) CpuBackend::add_col_sums(s, x, y);
  else col_sums<Of::numbers>(s, x, x, y);
}
void FastCpu::add_col_dots(Mat a, Mat b, Mat y) {
  if (small(a)) CpuBackend::add_col_dots(a, b, y);
  else col_sums<Of::products>(1, a, b, y);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
