#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/rows.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/share.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

//   x̂_j = (x_j - μ) r      y_j = x̂_j g_j + b_j          u_j = dy_j g_j      dx_j += r (u_j - mean u - x̂_j mean(u x̂))
//
// The plain twin works in double. Here c is the mean to float's precision, d = x - c, and e = mean(d) what is left of the mean:
// μ = c + e, x̂ = d r - e r. For a mean of a million and a deviation of one, d is still exact. rms_norm: c = e = 0.
// Three passes over a row, the last two while it is in the first cache. The gradients of gain and bias go to the sums of the
// row's part (rows.h), four rows together. Rows too large or too small for squares in float are left to the plain twin.

static constexpr double kLeast = 1e-30, kMost = 1e30;

// To float's precision: a first idea of the mean.
template <int rows>
static void rough_means(const Real* const* x, int n, Real* c) {
  vec s[rows] = {};
  by_vector(0, n, [&](int j, int left) {
#pragma GCC unroll 4
    for (int k = 0; k < rows; ++k) s[k] += load_to(x[k] + j, left, 0);
  });
  for (int k = 0; k < rows; ++k) c[k] = Real(sum_of(s[k]) / n);
}

// y of rows i to i + rows - 1, and the reciprocal roots of variance + eps; 0 where a row is not for float
template <int rows, bool centred>
static void norm_rows(Mat x, Mat gain, Mat bias, double eps, Mat y, int i, double* r) {
  const int n = x.cols;
  const Real* in[rows];
  Real* out[rows];
  Real c[rows] = {};
  doubles sum[rows] = {}, squares[rows] = {};
  for (int k = 0; k < rows; ++k) {
    in[k] = x.row(i + k);
    out[k] = y.row(i + k);
  }
  if (centred) rough_means<rows>(in, n, c);
  for (int j0 = 0; j0 < n; j0 += kBlock) {
    vec s[rows] = {}, q[rows] = {};
    by_vector(j0, block_end(j0, n), [&](int j, int left) {
#pragma GCC unroll 4
      for (int k = 0; k < rows; ++k) {
        const vec d = load_to(in[k] + j, left, c[k]) - splat(c[k]);
        if (centred) s[k] += d;
        q[k] += d * d;
      }
    });
    for (int k = 0; k < rows; ++k) {
      if (centred) sum[k] += halves_in_double(s[k]);
      squares[k] += halves_in_double(q[k]);
    }
  }
  vec scale[rows], shift[rows];
  for (int k = 0; k < rows; ++k) {
    const double e = centred ? joined(sum[k]) / n : 0, v = joined(squares[k]) / n - e * e + eps;
    r[k] = v > kLeast && v < kMost ? 1 / std::sqrt(v) : 0;
    scale[k] = splat(Real(r[k]));
    shift[k] = splat(Real(-e * r[k]));
  }
  by_vector(0, n, [&](int j, int left) {
    const vec g = load_to(gain.data + j, left, 0), b = centred ? load_to(bias.data + j, left, 0) : vec{};
#pragma GCC unroll 4
    for (int k = 0; k < rows; ++k) {
      const vec d = load_to(in[k] + j, left, 0) - splat(c[k]);
      __builtin_prefetch(in[k] + rows * std::ptrdiff_t(x.ld) + j);  // the rows that come next: the third cache is far
      store_to(out[k] + j, centred ? (d * scale[k] + shift[k]) * g + b : d * scale[k] * g, left);
    }
  });
}

template <bool centred>
static void norm_forward(FastCpu& cpu, Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) {
  const auto keep = [&](int i, const double* r, int rows) {
    for (int k = 0; k < rows; ++k) {
      if (r[k] > 0) rstd.row(i + k)[0] = Real(r[k]);
      else if (centred) cpu.CpuBackend::layer_norm(row_of(x, i + k), gain, bias, eps, row_of(rstd, i + k), row_of(y, i + k));
      else cpu.CpuBackend::rms_norm(row_of(x, i + k), gain, eps, row_of(rstd, i + k), row_of(y, i + k));
    }
  };
  share_fours(x.rows, 8.0 * x.cols, [&](int first, int last) {
    double r[kTogether];
    by_four(
        first, last, [&](int i) { norm_rows<kTogether, centred>(x, gain, bias, eps, y, i, r), keep(i, r, kTogether); },
        [&](int i) { norm_rows<1, centred>(x, gain, bias, eps, y, i, r), keep(i, r, 1); });
  });
}

void FastCpu::layer_norm(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) {
  if (x.cols <= kShort) CpuBackend::layer_norm(x, gain, bias, eps, rstd, y);
  else norm_forward<true>(*this, x, gain, bias, eps, rstd, y);
}

void FastCpu::rms_norm(Mat x, Mat gain, double eps, Mat rrms, Mat y) {
  if (x.cols <= kShort) CpuBackend::rms_norm(x, gain, eps, rrms, y);
  else norm_forward<false>(*this, x, gain, {}, eps, rrms, y);
}

// ---- backward

struct Row {
  const Real *x, *dy;
  Real* dx;  // or nullptr
  bool accumulate;
  vec c, r, shift, mean_u, mean_ux;  // x̂ = (x - c) r + shift; the means times r
};

// Finds the means of each row; good: whether they are for float.
template <int rows, bool centred>
static void prepare(Row* row, const Real* gain, const double* r, int n, bool* good) {
  const Real* x[rows];
  Real c[rows] = {};
  doubles sum[rows] = {}, sum_u[rows] = {}, sum_ud[rows] = {};
  for (int k = 0; k < rows; ++k) x[k] = row[k].x;
  if (centred) rough_means<rows>(x, n, c);
  for (int j0 = 0; j0 < n; j0 += kBlock) {
    vec s[rows] = {}, a[rows] = {}, b[rows] = {};
    by_vector(j0, block_end(j0, n), [&](int j, int left) {
      const vec g = load_to(gain + j, left, 0);
#pragma GCC unroll 4
      for (int k = 0; k < rows; ++k) {
        const vec d = load_to(x[k] + j, left, c[k]) - splat(c[k]), u = load_to(row[k].dy + j, left, 0) * g;
        if (row[k].dx) __builtin_prefetch(row[k].dx + j, 1);  // wanted in the last pass
        if (centred) s[k] += d, a[k] += u;
        b[k] += u * d;
      }
    });
    for (int k = 0; k < rows; ++k) {
      if (centred) sum[k] += halves_in_double(s[k]), sum_u[k] += halves_in_double(a[k]);
      sum_ud[k] += halves_in_double(b[k]);
    }
  }
  for (int k = 0; k < rows; ++k) {
    const double e = centred ? joined(sum[k]) / n : 0, mean_u = centred ? joined(sum_u[k]) / n : 0;
    const double mean_ux = r[k] * (joined(sum_ud[k]) / n - e * mean_u), size = r[k] * r[k];
    row[k].c = splat(c[k]);
    row[k].r = splat(Real(r[k]));
    row[k].shift = splat(Real(-e * r[k]));
    row[k].mean_u = splat(Real(r[k] * mean_u));
    row[k].mean_ux = splat(Real(r[k] * mean_ux));
    good[k] = size > 1 / kMost && size < 1 / kLeast && std::fabs(r[k] * mean_u) < kMost && std::fabs(r[k] * mean_ux) < kMost;
  }
}

// dgain and dbias: sums of this part of the rows, filled up to whole vectors
template <int m>
static void add_rows(const Row* row, const Real* gain, Real* dgain, Real* dbias, int n) {
  by_vector(0, n, [&](int j, int left) {
    const vec g = load_to(gain + j, left, 0);
    vec dg = load(dgain + j), db = load(dbias + j);
#pragma GCC unroll 4
    for (int k = 0; k < m; ++k) {
      const vec xhat = (load_to(row[k].x + j, left, 0) - row[k].c) * row[k].r + row[k].shift, dy = load_to(row[k].dy + j, left, 0);
      if (row[k].dx) store_to(row[k].dx + j, start_of(row[k].dx + j, left, row[k].accumulate) + (dy * g * row[k].r - row[k].mean_u - xhat * row[k].mean_ux), left);
      dg += dy * xhat;
      db += dy;
    }
    store(dgain + j, dg);
    store(dbias + j, db);
  });
}

static void add_sums(Real* sums, int parts, int width, Mat to, int at) {
  if (!to.data) return;
  for (int step = 1; step < parts; step *= 2)  // two by two
    for (int p = 0; p + step < parts; p += 2 * step)
      for (int j = at; j < at + width; j += L) store(sums + p * 2 * width + j, load(sums + p * 2 * width + j) + load(sums + (p + step) * 2 * width + j));
  for (int j = 0; j < to.cols; ++j) to.data[j] += sums[at + j];
}

struct Gradients {
  Mat x, gain, rstd, dy, dx;
  bool accumulate;  // dx
};

// Rows i to i + rows - 1: all of them together, or if one is not for float, one by one in the plain loops.
template <int rows, bool centred>
static void rows_backward(FastCpu& cpu, const Gradients& g, int i, Real* dgain, Real* dbias) {
  const int n = g.x.cols;
  Row row[rows];
  double r[rows];
  bool good[rows], all = true;
  for (int k = 0; k < rows; ++k) {
    row[k].x = g.x.row(i + k);
    row[k].dy = g.dy.row(i + k);
    row[k].dx = g.dx.data ? g.dx.row(i + k) : nullptr;
    row[k].accumulate = g.accumulate;
    r[k] = g.rstd.row(i + k)[0];
  }
  prepare<rows, centred>(row, g.gain.data, r, n, good);
  for (int k = 0; k < rows; ++k) all &= good[k];
  if (all) {
    add_rows<rows>(row, g.gain.data, dgain, dbias, n);
    return;
  }
  for (int k = i; k < i + rows; ++k) {
    const Mat x = row_of(g.x, k), rstd = row_of(g.rstd, k), dy = row_of(g.dy, k), dx = row_of(g.dx, k);
    if (centred) cpu.CpuBackend::layer_norm_backward(x, g.gain, rstd, dy, dx, {dgain, 1, n, n}, {dbias, 1, n, n}, g.accumulate);
    else cpu.CpuBackend::rms_norm_backward(x, g.gain, rstd, dy, dx, {dgain, 1, n, n}, g.accumulate);
  }
}

template <bool centred>
static void norm_backward(FastCpu& cpu, const Gradients& g, Mat dgain, Mat dbias) {
  const int rows = g.x.rows, n = g.x.cols, parts = parts_of(rows), width = (n + L - 1) / L * L;
  Real* sums = thread_scratch(Scratch::sums, std::size_t(parts) * 2 * width);
  share(parts, 14.0 * n * rows / parts, [&](int first, int last) {
    for (int p = first; p < last; ++p) {
      Real *dg = sums + std::ptrdiff_t(p) * 2 * width, *db = dg + width;
      for (int j = 0; j < 2 * width; ++j) dg[j] = 0;
      by_four(
          part_start(rows, p, parts), part_start(rows, p + 1, parts), [&](int i) { rows_backward<kTogether, centred>(cpu, g, i, dg, db); },
          [&](int i) { rows_backward<1, centred>(cpu, g, i, dg, db); });
    }
  });
  add_sums(sums, parts, width, dgain, 0);
  add_sums(sums, parts, width, dbias, width);
}

void FastCpu::layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias, bool accumulate) {
  if (x.cols <= kShort) CpuBackend::layer_norm_backward(x, gain, rstd, dy, dx, dgain, dbias, accumulate);
  else norm_backward<true>(*this, {x, gain, rstd, dy, dx, accumulate}, dgain, dbias);
}

void FastCpu::rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain, bool accumulate) {
  if (x.cols <= kShort) CpuBackend::rms_norm_backward(x, gain, rrms, dy, dx, dgain, accumulate);
  else norm_backward<false>(*this, {x, gain, rrms, dy, dx, accumulate}, dgain, {});
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
