#include <cmath>
#include <limits>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Both weights are max(z - τ, 0), or its square, with z = the row minus its maximum (or half of that): adding a number to
// a row changes nothing. If the k largest entries are above the threshold, their sum and their squares give τ:
//
//   Σ (z - τ) = 1       τ = (Σ z - 1) / k
//   Σ (z - τ)² = 1      τ = μ - √(1/k - variance)       μ, variance of these k

namespace {
struct Above {  // the entries above the threshold
  int k = 0;
  double sum = 0, squares = 0;
  void add(double z) { ++k, sum += z, squares += z * z; }
};
}  // namespace

static double threshold(Above a) { return (a.sum - 1) / a.k; }

static double threshold_of_squares(Above a) {
  const double mean = a.sum / a.k, room = 1.0 / a.k - (a.squares / a.k - mean * mean);
  return mean - std::sqrt(room > 0 ? room : 0);
}

// The first of the largest entries of row i whose `support` is `taken`; -1 if there is none. -inf counts as no entry.
static int largest(Mat x, Mat support, Real taken, int i) {
  int best = -1;
  for (int j = 0; j < x.cols; ++j)
    if (support(i, j) == taken && std::isfinite(x(i, j)) && (best < 0 || x(i, j) > x(i, best))) best = j;
  return best;
}

// Takes the entries from the largest down, as long as the next is above the threshold of those before.
static void decide_support(Mat x, double factor, double (*tau_of)(Above), int i, Mat support) {
  for (int j = 0; j < x.cols; ++j) support(i, j) = 0;
  const int first = largest(x, support, 0, i);
  Above above;
  for (int j = first; j >= 0; j = largest(x, support, 0, i)) {
    const double z = factor * (double(x(i, j)) - x(i, first));
    if (above.k > 0 && z <= tau_of(above)) return;
    support(i, j) = 1;
    above.add(z);
  }
}

static bool has_no_threshold(Mat x, int i) {  // +inf or NaN
  for (int j = 0; j < x.cols; ++j)
    if (!(x(i, j) < std::numeric_limits<Real>::infinity())) return true;
  return false;
}

// y_ij = max(factor (x_ij - m_i) - τ_i, 0)
static void above_threshold(Mat x, double factor, double (*tau_of)(Above), bool decide, Mat support, Mat y) {
  for (int i = 0; i < x.rows; ++i) {
    const bool broken = has_no_threshold(x, i);
    for (int j = 0; j < x.cols; ++j) y(i, j) = broken ? std::numeric_limits<Real>::quiet_NaN() : 0;
    if (broken) continue;
    if (decide) decide_support(x, factor, tau_of, i, support);
    const int first = largest(x, support, 1, i);
    if (first < 0) continue;  // nothing but -inf: zeros
    Above above;
    for (int j = 0; j < x.cols; ++j)
      if (support(i, j) != 0) above.add(factor * (double(x(i, j)) - x(i, first)));
    const double tau = tau_of(above);
    for (int j = 0; j < x.cols; ++j)
      if (support(i, j) != 0) y(i, j) = Real(factor * (double(x(i, j)) - x(i, first)) - tau);
  }
}

void CpuBackend::sparsemax_rows(Mat x, bool decide, Mat support, Mat y) { above_threshold(x, 1, threshold, decide, support, y); }

void CpuBackend::entmax15_rows(Mat x, bool decide, Mat support, Mat g) { above_threshold(x, 0.5, threshold_of_squares, decide, support, g); }

void CpuBackend::weighted_mean_backward(Mat g, Mat dy, Mat dx) {
  for (int i = 0; i < dx.rows; ++i) {
    double sum = 0, dot = 0;
    for (int j = 0; j < dx.cols; ++j) sum += double(g(i, j)), dot += double(g(i, j)) * dy(i, j);
    if (sum == 0) continue;
    for (int j = 0; j < dx.cols; ++j) dx(i, j) += Real(g(i, j) * (dy(i, j) - dot / sum));
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
