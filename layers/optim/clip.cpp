#include "layers/optim/clip.h"

#include <algorithm>
#include <cmath>

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The largest |g| of all; throws for the first that is not finite.
static double largest(ParamStore& store) {
  double most = 0;
  for (const Param& p : store.all) {
    const HostView g(*p.grad.home(), p.grad);
    for (int i = 0; i < p.grad.rows(); ++i) {
      for (int j = 0; j < p.grad.cols(); ++j) {
        if (!std::isfinite(g(i, j))) {
          throw NonFiniteError("clip: the gradient d" + p.name + entry_text(i, j) + " is " + to_text(double(g(i, j))) +
                               ", so there is no length to clip; nothing was changed");
        }
        most = std::max(most, std::fabs(double(g(i, j))));
      }
    }
  }
  return most;
}

static void shorten(Param& p, double factor) {
  Backend& home = *p.grad.home();
  const HostView gradient(home, p.grad);
  const Mat g = gradient;
  for (int i = 0; i < g.rows; ++i)
    for (int j = 0; j < g.cols; ++j) g(i, j) = Real(g(i, j) * factor);
  if (!home.host_readable()) home.from_host(g, p.grad);
}

static double norm_of(Backend& be, Mat x) {
  Real n = 0;
  const Mat host{&n, 1, 1, 1};
  if (be.host_readable()) {
    be.norm(x, host);
  } else {
    const Matrix there({1, 1}, &be);
    be.norm(x, there);
    be.to_host(there, host);
  }
  return double(n);
}

// The whole length, block by block. Its squares run in double: right for gradients of any usual size.
static double usual_norm(const ParamStore& store) {
  double sum = 0;
  for (const ParamBlock& b : store.blocks) {
    const double n = norm_of(*b.grads.home(), b.grad());
    sum += n * n;
  }
  return std::sqrt(sum);
}

// Far from what a float or the square of a double can hold. A NaN is not.
static bool usual(double x) { return x > 1e-30 && x < 1e30; }

double clip_by_norm(ParamStore& store, double limit) {
  if (!(limit > 0)) throw InputError("clip: the limit must be above 0, not " + to_text(limit));
  if (const double norm = usual_norm(store); usual(norm) && (norm <= limit || usual(limit / norm))) {
    if (norm > limit) {
      for (const ParamBlock& b : store.blocks) b.grads.home()->scale(b.grad(), Real(limit / norm), b.grad());
    }
    return norm;
  }
  const double most = largest(store);
  if (most == 0) return 0;
  double sum = 0;  // of squares in units of the largest: a square cannot overflow
  for (const Param& p : store.all) {
    const HostView g(*p.grad.home(), p.grad);
    for (int i = 0; i < p.grad.rows(); ++i)
      for (int j = 0; j < p.grad.cols(); ++j) sum += (g(i, j) / most) * (g(i, j) / most);
  }
  const double norm = most * std::sqrt(sum);
  if (norm > limit) {
    for (Param& p : store.all) shorten(p, limit / most / std::sqrt(sum));
  }
  return norm;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
