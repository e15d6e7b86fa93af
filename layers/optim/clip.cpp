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

double clip_by_norm(ParamStore& store, double limit) {
  if (!(limit > 0)) throw InputError("clip: the limit must be above 0, not " + to_text(limit));
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
