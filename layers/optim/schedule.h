// Schedules: the learning rate of update t. Updates are counted from 1, and the first has a rate above 0.
#pragma once

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   t <= warmup:   peak · t / warmup
//   after it:      floor + (peak - floor) (1 + cos(π (t - warmup) / (total - warmup))) / 2
//   after total:   floor
//
// Loshchilov and Hutter 2017, "SGDR", equation 5, without restarts.
struct WarmupCosine {
  double peak;
  long warmup, total;
  double floor = 0;
  double operator()(long t) const;  // throws InputError for t < 1, or unless 0 <= warmup <= total
};

//   width^(-1/2) · min(t^(-1/2), t · warmup^(-3/2))
//
// Vaswani et al. 2017, "Attention Is All You Need", equation 3: it rises in a line to 1 / √(width · warmup), then
// falls as 1 / √t.
struct Noam {
  long width, warmup = 4000;
  double operator()(long t) const;  // throws InputError for t < 1, or unless width and warmup are 1 or more
};

}  // namespace GLASS_PRECISION
}  // namespace glass
