#include "layers/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static void require_update(const char* schedule, long t) {
  if (t >= 1) return;
  throw InputError(std::string(schedule) + ": updates are counted from 1, there is no update " + std::to_string(t));
}

double WarmupCosine::operator()(long t) const {
  require_update("warm-up and cosine", t);
  if (warmup < 0 || total < warmup) {
    throw InputError("warm-up and cosine: a warm-up of " + std::to_string(warmup) + " does not fit into " +
                     std::to_string(total) + " updates");
  }
  if (t <= warmup) return peak * double(t) / double(warmup);
  if (t >= total) return floor;
  const double pi = 3.14159265358979323846;
  return floor + (peak - floor) * (1 + std::cos(pi * double(t - warmup) / double(total - warmup))) / 2;
}

double Noam::operator()(long t) const {
  require_update("noam", t);
  if (width < 1 || warmup < 1) {
    throw InputError("noam: the width and the warm-up must be 1 or more, not " + std::to_string(width) + " and " +
                     std::to_string(warmup));
  }
  const double T = double(t), w = double(warmup);
  return std::min(1 / std::sqrt(T), T / (w * std::sqrt(w))) / std::sqrt(double(width));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
