#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/share.h"
#include "engine/cpu/fast/softmax_row.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

//   loss_i = ln Σ_j e^(x_j - m) - (1 - ε) (x_t - m) - ε mean(x - m)          dx = dy (P - q) / count, q = (1 - ε) [j = t] + ε / K
//
// The softmax that backward needs gives the sum of the loss on its way.

static int counted(Ints targets, int ignore) {
  int n = 0;
  for (int i = 0; i < targets.n; ++i) n += targets.data[i] != ignore;
  return n;
}

static double mean_above(const Real* x, Real m, int n) {  // mean of x - m
  doubles sum{};
  for (int j0 = 0; j0 < n; j0 += kBlock) {
    vec s{};
    by_vector(j0, block_end(j0, n), [&](int j, int left) { s += load_to(x + j, left, m) - splat(m); });
    sum += halves_in_double(s);
  }
  return joined(sum) / n;
}

static double loss_of_row(const Real* x, int n, const Exponentials& e, int t, int ignore, double smoothing) {
  if (t == ignore) return 0;
  return std::log(e.sum) - (1 - smoothing) * (double(x[t]) - e.m) - (smoothing > 0 ? smoothing * mean_above(x, e.m, n) : 0);
}

void FastCpu::cross_entropy(Mat x, Ints targets, int ignore, double smoothing, Mat P, Mat y) {
  const int parts = parts_of(x.rows);
  double* loss = reinterpret_cast<double*>(thread_scratch(Scratch::sums, std::size_t(parts) * (sizeof(double) / sizeof(Real))));
  share(parts, 20.0 * x.cols * x.rows / parts, [&](int first, int last) {
    for (int p = first; p < last; ++p) {
      double sum = 0;
      Exponentials e[kTogether];
      const auto add = [&](int i, int rows) {
        for (int k = 0; k < rows; ++k) sum += loss_of_row(x.row(i + k), x.cols, e[k], targets.data[i + k], ignore, smoothing);
      };
      const auto four = [&](int i) { softmax<kTogether>(x, P, i, e), add(i, kTogether); };
      const auto one = [&](int i) { softmax<1>(x, P, i, e), add(i, 1); };
      by_four(part_start(x.rows, p, parts), part_start(x.rows, p + 1, parts), four, one);
      loss[p] = sum;
    }
  });
  double total = 0;
  for (int p = 0; p < parts; ++p) total += loss[p];
  const int n = counted(targets, ignore);
  y.row(0)[0] = n ? Real(total / n) : 0;
}

void FastCpu::cross_entropy_backward(Mat P, Ints targets, int ignore, double smoothing, Mat dy, Mat dx, bool accumulate) {
  const double scale = dy.row(0)[0] / double(counted(targets, ignore)), other = smoothing / dx.cols, chosen = (1 - smoothing) + other;
  const vec s = splat(Real(scale)), q = splat(Real(other));
  share(dx.rows, 4.0 * dx.cols, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const int t = targets.data[i], n = dx.cols;
      const Real* p = P.row(i);
      Real* out = dx.row(i);
      if (t == ignore) {
        for (int j = 0; j < n && !accumulate; ++j) out[j] = 0;
        continue;
      }
      const Real target = Real((accumulate ? out[t] : 0) + scale * (p[t] - chosen));
      by_vector(0, n, [&](int j, int left) { store_to(out + j, start_of(out + j, left, accumulate) + s * (load_to(p + j, left, 0) - q), left); });
      out[t] = target;
    }
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
