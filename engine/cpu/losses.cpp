#include <cmath>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Cross-entropy of a row x against the class t, with label smoothing ε over all K classes:
//
//   q_j = (1 - ε) [j = t] + ε / K          P = softmax(x)
//   loss_i = Σ_j q_j (lse - x_j) = lse - (1 - ε) x_t - ε mean(x)        lse = ln Σ_j e^(x_j)
//   y = mean of loss_i over the rows that count               dx_ij = dy (P_ij - q_j) / count
//
// Szegedy et al. 2016, "Rethinking the Inception Architecture", section 7. No row that counts: 0.

static int counted(Ints targets, int ignore) {
  int n = 0;
  for (int i = 0; i < targets.n; ++i) n += targets.data[i] != ignore;
  return n;
}

void CpuBackend::cross_entropy(Mat x, Ints targets, int ignore, double smoothing, Mat P, Mat y) {
  const int n = counted(targets, ignore);
  double total = 0;
  softmax_rows(x, P);
  for (int i = 0; i < x.rows; ++i) {
    const int t = targets.data[i];
    if (t == ignore) continue;
    Real m = x(i, 0);
    for (int j = 1; j < x.cols; ++j) m = x(i, j) > m ? x(i, j) : m;
    double sum = 0, mean = 0;
    for (int j = 0; j < x.cols; ++j) {
      sum += std::exp(double(x(i, j)) - m);
      mean += (double(x(i, j)) - m) / x.cols;
    }
    // all relative to m, so that huge logits do not swallow the difference
    total += std::log(sum) - (1 - smoothing) * (double(x(i, t)) - m) - (smoothing > 0 ? smoothing * mean : 0);
  }
  y(0, 0) = n ? Real(total / n) : 0;
}

void CpuBackend::cross_entropy_backward(Mat P, Ints targets, int ignore, double smoothing, Mat dy, Mat dx, bool accumulate) {
  if (!accumulate) CpuBackend::fill(dx, 0);
  const int n = counted(targets, ignore);
  for (int i = 0; i < dx.rows; ++i) {
    const int t = targets.data[i];
    if (t == ignore) continue;
    for (int j = 0; j < dx.cols; ++j) {
      const double q = (1 - smoothing) * (j == t) + smoothing / dx.cols;
      dx(i, j) += Real(dy(0, 0) * (P(i, j) - q) / n);
    }
  }
}

void CpuBackend::bce_logits(Mat x, Mat t, Mat y) {
  for (int i = 0; i < y.rows; ++i) {
    for (int j = 0; j < y.cols; ++j) {
      const Real yes = t(i, j), no = 1 - yes;  // a part that counts 0 is left out, even if it is infinite
      y(i, j) = (yes != 0 ? yes * value(Function::softplus, -x(i, j)) : 0) + (no != 0 ? no * value(Function::softplus, x(i, j)) : 0);
    }
  }
}

void CpuBackend::bce_logits_backward(Mat x, Mat t, Mat dy, Mat dx) {
  for (int i = 0; i < dx.rows; ++i)
    for (int j = 0; j < dx.cols; ++j) dx(i, j) += dy(i, j) * ((1 - t(i, j)) * sigmoid_of(x(i, j)) - t(i, j) * sigmoid_of(-x(i, j)));
}

void CpuBackend::kl(Mat p, Mat log_q, Mat y) {
  for (int i = 0; i < p.rows; ++i) {
    double sum = 0;
    for (int j = 0; j < p.cols; ++j)
      if (p(i, j) != 0) sum += p(i, j) * (std::log(double(p(i, j))) - log_q(i, j));
    y(i, 0) = Real(sum);
  }
}

void CpuBackend::kl_backward(Mat p, Mat dy, Mat dlog_q) {
  for (int i = 0; i < p.rows; ++i)
    for (int j = 0; j < p.cols; ++j) dlog_q(i, j) -= p(i, j) * dy(i, 0);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
