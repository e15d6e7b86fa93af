#include <cmath>
#include <cstring>

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
        const std::ptrdiff_t from = part_start(length, p, parts), to = part_start(length, p + 1, parts);
        sums[p] = sum_of_row<of>(to - from, a.data + from, b.data + from);
      } else {
        const std::ptrdiff_t from = part_start(rows, p, parts), to = part_start(rows, p + 1, parts);
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

// Columns: the rows of a part are added to C sums, four rows at a time, so nothing is transposed, memory is read in order, and the
// sums stay in the first cache. A part is a range of rows; sums: parts x C.
template <Of of>
static void sums_of_rows(Mat a, Mat b, int from, int to, double* sums) {
  for (int j = 0; j < a.cols; ++j) sums[j] = 0;
  for (int i = from; i < to; i += 4) {
    const Real *p[4], *q[4];
    const int rows = to - i < 4 ? to - i : 4;
    for (int r = 0; r < rows; ++r) p[r] = a.row(i + r), q[r] = b.row(i + r);
    int j = 0;
    if (rows == 4) {
      for (; j + W <= a.cols; j += W) {
        wide s;
        std::memcpy(&s, sums + j, sizeof s);
        s += (term<of>(p[0] + j, q[0] + j) + term<of>(p[1] + j, q[1] + j)) + (term<of>(p[2] + j, q[2] + j) + term<of>(p[3] + j, q[3] + j));
        std::memcpy(sums + j, &s, sizeof s);
      }
    }
    for (; j < a.cols; ++j)
      for (int r = 0; r < rows; ++r) sums[j] += one_term<of>(p[r] + j, q[r] + j);
  }
}

template <Of of>
static void col_sums(Real s, Mat a, Mat b, Mat y) {
  const int parts = parts_of(a.rows, 64);
  double* sums = reinterpret_cast<double*>(thread_scratch(Scratch::sums, std::size_t(parts) * std::size_t(a.cols) * sizeof(double) / sizeof(Real)));
  share(parts, 2.0 * double(a.rows) * a.cols / parts, [&](int first, int last) {
    for (int p = first; p < last; ++p) {
      sums_of_rows<of>(a, b, part_start(a.rows, p, parts), part_start(a.rows, p + 1, parts), sums + std::ptrdiff_t(p) * a.cols);
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
