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
// row's part (rows.h), four rows together. A row too large or too small for squares in float is left to the plain twin.

static constexpr double kLeast = 1e-30, kMost = 1e30;

static double sum_in(const Real* x, int n) {
  vec s[2] = {};
  int j = 0;
  for (; j + 2 * L <= n; j += 2 * L) {
    s[0] += load(x + j);
    s[1] += load(x + j + L);
  }
  for (; j < n; j += L) s[0] += load_to(x + j, n - j, 0);
  return sum_of(s[0] + s[1]);
}

struct Moments {
  Real c;
  double e, variance;  // mean = c + e
};

static Moments moments(const Real* x, int n, bool centred) {
  const Real c = centred ? Real(sum_in(x, n) / n) : 0;
  double sum = 0, squares = 0;
  for (int j = 0; j < n;) {
    vec s{}, q{};
    for (const int end = block_end(j, n); j < end; j += L) {
      const vec d = load_to(x + j, n - j, c) - splat(c);
      s += d;
      q += d * d;
    }
    sum += sum_of(s);
    squares += sum_of(q);
  }
  const double e = centred ? sum / n : 0;
  return {c, e, squares / n - e * e};
}

// 1 / √(variance + eps), or 0 where the row is not for float
static double norm_row(const Real* x, const Real* gain, const Real* bias, double eps, Real* y, int n) {
  const Moments m = moments(x, n, bias != nullptr);
  const double v = m.variance + eps;
  if (!(v > kLeast && v < kMost)) return 0;
  const double r = 1 / std::sqrt(v);
  const vec c = splat(m.c), scale = splat(Real(r)), shift = splat(Real(-m.e * r));
  for (int j = 0; j < n; j += L) {
    const vec xhat = (load_to(x + j, n - j, 0) - c) * scale + shift, g = load_to(gain + j, n - j, 0);
    store_to(y + j, bias ? xhat * g + load_to(bias + j, n - j, 0) : xhat * g, n - j);
  }
  return r;
}

void FastCpu::layer_norm(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) {
  share(x.rows, 8.0 * x.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const double r = norm_row(x.row(i), gain.data, bias.data, eps, y.row(i), x.cols);
      if (r > 0) rstd.row(i)[0] = Real(r);
      else CpuBackend::layer_norm(row_of(x, i), gain, bias, eps, row_of(rstd, i), row_of(y, i));
    }
  });
}

void FastCpu::rms_norm(Mat x, Mat gain, double eps, Mat rrms, Mat y) {
  share(x.rows, 6.0 * x.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const double r = norm_row(x.row(i), gain.data, nullptr, eps, y.row(i), x.cols);
      if (r > 0) rrms.row(i)[0] = Real(r);
      else CpuBackend::rms_norm(row_of(x, i), gain, eps, row_of(rrms, i), row_of(y, i));
    }
  });
}

// ---- backward

struct Row {
  const Real *x, *dy;
  Real* dx;  // or nullptr
  vec c, r, shift, mean_u, mean_ux;  // x̂ = (x - c) r + shift; the means times r
};

// Finds the means of one row; false where they are not for float.
static bool prepare(Row& row, const Real* gain, double r, int n, bool centred) {
  const Real c = centred ? Real(sum_in(row.x, n) / n) : 0;
  double sum = 0, sum_u = 0, sum_ud = 0;
  for (int j = 0; j < n;) {
    vec s{}, a{}, b{};
    for (const int end = block_end(j, n); j < end; j += L) {
      const vec d = load_to(row.x + j, n - j, c) - splat(c), u = load_to(row.dy + j, n - j, 0) * load_to(gain + j, n - j, 0);
      s += d;
      a += u;
      b += u * d;
    }
    sum += sum_of(s);
    sum_u += sum_of(a);
    sum_ud += sum_of(b);
  }
  const double e = centred ? sum / n : 0, mean_u = centred ? sum_u / n : 0, mean_ux = r * (sum_ud / n - e * mean_u);
  row.c = splat(c);
  row.r = splat(Real(r));
  row.shift = splat(Real(-e * r));
  row.mean_u = splat(Real(r * mean_u));
  row.mean_ux = splat(Real(r * mean_ux));
  return r * r > 1 / kMost && r * r < 1 / kLeast && std::fabs(r * mean_u) < kMost && std::fabs(r * mean_ux) < kMost;
}

// dgain and dbias: sums of this part of the rows, filled up to whole vectors
template <int m>
static void add_rows(const Row* rows, const Real* gain, Real* dgain, Real* dbias, int n) {
  for (int j = 0; j < n; j += L) {
    const int left = n - j;
    const vec g = load_to(gain + j, left, 0);
    vec dg = load(dgain + j), db = load(dbias + j);
#pragma GCC unroll 4
    for (int k = 0; k < m; ++k) {
      const Row& row = rows[k];
      const vec xhat = (load_to(row.x + j, left, 0) - row.c) * row.r + row.shift, dy = load_to(row.dy + j, left, 0);
      if (row.dx) store_to(row.dx + j, load_to(row.dx + j, left, 0) + (dy * g * row.r - row.mean_u - xhat * row.mean_ux), left);
      dg += dy * xhat;
      db += dy;
    }
    store(dgain + j, dg);
    store(dbias + j, db);
  }
}

static void add_sums(Real* sums, int parts, int width, Mat to, int at) {
  if (!to.data) return;
  for (int step = 1; step < parts; step *= 2)  // two by two
    for (int p = 0; p + step < parts; p += 2 * step)
      for (int j = at; j < at + width; j += L) store(sums + p * 2 * width + j, load(sums + p * 2 * width + j) + load(sums + (p + step) * 2 * width + j));
  for (int j = 0; j < to.cols; ++j) to.data[j] += sums[at + j];
}

static void norm_backward(FastCpu& cpu, Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias, bool centred) {
  const int n = x.cols, parts = parts_of(x.rows), width = (n + L - 1) / L * L;
  Real* sums = thread_scratch(std::size_t(parts) * 2 * width);
  share(parts, 14.0 * n * x.rows / parts, [&](int first, int last) {
    for (int p = first; p < last; ++p) {
      Real *dg = sums + std::ptrdiff_t(p) * 2 * width, *db = dg + width;
      for (int j = 0; j < 2 * width; ++j) dg[j] = 0;
      Row rows[4];
      int ready = 0;
      for (int i = part_start(x.rows, parts, p); i < part_start(x.rows, parts, p + 1); ++i) {
        Row& row = rows[ready];
        row.x = x.row(i);
        row.dy = dy.row(i);
        row.dx = dx.data ? dx.row(i) : nullptr;
        if (prepare(row, gain.data, rstd.row(i)[0], n, centred)) ++ready;
        else if (centred) cpu.CpuBackend::layer_norm_backward(row_of(x, i), gain, row_of(rstd, i), row_of(dy, i), row_of(dx, i), {dg, 1, n, n}, {db, 1, n, n});
        else cpu.CpuBackend::rms_norm_backward(row_of(x, i), gain, row_of(rstd, i), row_of(dy, i), row_of(dx, i), {dg, 1, n, n});
        if (ready == 4) {
          add_rows<4>(rows, gain.data, dg, db, n);
          ready = 0;
        }
      }
      for (int k = 0; k < ready; ++k) add_rows<1>(rows + k, gain.data, dg, db, n);
    }
  });
  add_sums(sums, parts, width, dgain, 0);
  add_sums(sums, parts, width, dbias, width);
}

void FastCpu::layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias) {
  norm_backward(*this, x, gain, rstd, dy, dx, dgain, dbias, true);
}

void FastCpu::rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain) {
  norm_backward(*this, x, gain, rrms, dy, dx, dgain, {}, false);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
