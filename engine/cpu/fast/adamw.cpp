#include <cmath>

#include "engine/cpu/fast/each.h"
#include "engine/cpu/fast/fast.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// One pass: four numbers come in for each weight and three go out, so memory sets the pace. In Real throughout. The corrections
// leave the loop:   rate m̂ / (√v̂ + eps) = (rate / correct1) m / (√v / √correct2 + eps)

struct Rates {
  Real keep, step, beta1, rest1, beta2, rest2, root2, eps;
};

// A plain loop, which the compiler turns into vectors: the four blocks do not overlap, and it has a root of vectors.
static void update(std::ptrdiff_t n, const Real* __restrict g, const Rates& rates, Real* __restrict m, Real* __restrict v, Real* __restrict w) {
  const Rates r = rates;
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    m[k] = r.beta1 * m[k] + r.rest1 * g[k];
    v[k] = r.beta2 * v[k] + r.rest2 * g[k] * g[k];
    w[k] = r.keep * w[k] - r.step * m[k] / (std::sqrt(v[k]) * r.root2 + r.eps);
  }
}

void FastCpu::adamw(Mat g, const AdamWStep& s, Mat m, Mat v, Mat w) {
  const Rates r = {Real(s.keep), Real(s.rate / s.correct1), Real(s.beta1), Real(1 - s.beta1),
                   Real(s.beta2), Real(1 - s.beta2), Real(1 / std::sqrt(s.correct2)), Real(s.eps)};
  share_numbers(w, one_row(g) && one_row(m) && one_row(v) && one_row(w), 8, [&](int i, std::ptrdiff_t from, std::ptrdiff_t n) {
    update(n, g.row(i) + from, r, m.row(i) + from, v.row(i) + from, w.row(i) + from);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
