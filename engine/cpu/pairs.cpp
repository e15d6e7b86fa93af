#include <cmath>
#include <limits>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Every loop runs over the pairs of the list, and over no others: twice as many pairs, twice the time.

void CpuBackend::pair_dots(Mat a, Mat b, PairList p, Real s, Mat e) {
  for (int i = 0; i < a.rows; ++i) {
    for (int at = p.begin(i); at < p.end(i); ++at) {
      Real sum = 0;
      for (int c = 0; c < a.cols; ++c) sum += a(i, c) * b(p.key(at), c);
      e(at, 0) = s * sum;
    }
  }
}

void CpuBackend::pair_softmax(Mat e, PairList p, Mat a) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  for (int i = 0; i + 1 < p.starts.n; ++i) {
    Real m = -infinity;
    for (int at = p.begin(i); at < p.end(i); ++at) m = e(at, 0) <= m ? m : e(at, 0);
    double sum = 0;
    for (int at = p.begin(i); at < p.end(i); ++at) {
      a(at, 0) = std::exp(e(at, 0) - m);
      sum += a(at, 0);
    }
    for (int at = p.begin(i); at < p.end(i); ++at) a(at, 0) = m == -infinity ? 0 : Real(a(at, 0) / sum);  // nothing but -inf: zeros, as in softmax_rows
  }
}

void CpuBackend::pair_softmax_backward(Mat a, Mat da, PairList p, Mat de) {
  for (int i = 0; i + 1 < p.starts.n; ++i) {
    double dot = 0;
    for (int at = p.begin(i); at < p.end(i); ++at) dot += double(a(at, 0)) * da(at, 0);
    for (int at = p.begin(i); at < p.end(i); ++at) de(at, 0) = Real(a(at, 0) * (da(at, 0) - dot));
  }
}

void CpuBackend::add_pair_rows(Real s, Mat e, PairList p, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int at = p.begin(i); at < p.end(i); ++at)
      for (int c = 0; c < y.cols; ++c) y(i, c) += s * e(at, 0) * b(p.key(at), c);
}

void CpuBackend::add_pair_cols(Real s, Mat e, PairList p, Mat a, Mat y) {
  for (int i = 0; i < a.rows; ++i)
    for (int at = p.begin(i); at < p.end(i); ++at)
      for (int c = 0; c < y.cols; ++c) y(p.key(at), c) += s * e(at, 0) * a(i, c);
}

void CpuBackend::spread_pairs(Mat e, PairList p, Mat y) {
  fill(y, 0);
  for (int i = 0; i < y.rows; ++i)
    for (int at = p.begin(i); at < p.end(i); ++at) y(i, p.key(at)) = e(at, 0);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
