#include "layers/positional/alibi.h"

#include <cmath>

#include "engine/errors.h"
#include "engine/ops.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::vector<double> alibi_slopes(int H) {
  int power = 1;
  while (2 * power <= H) power *= 2;
  std::vector<double> slopes;
  for (int h = 1; h <= power && h <= H; ++h) slopes.push_back(std::exp2(-8.0 * h / power));
  for (int h = 1; int(slopes.size()) < H; h += 2) slopes.push_back(std::exp2(-8.0 * h / (2 * power)));
  return slopes;
}

Var Alibi::attend(Var Q, Var K, Var V, const Call& call) const {
  const int n = Q.shape().rows, m = K.shape().rows;
  if (call.head >= call.heads)
    throw ShapeError("alibi attention: there is no head " + std::to_string(call.head) + " of " +
                     std::to_string(call.heads));
  const double slope = alibi_slopes(call.heads)[std::size_t(call.head)];
  Matrix bias(Shape{n, m});
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) bias(i, j) = Real(-slope * std::abs(j - (i + m - n)));
  const Var E = scaled_scores(Q, hide_keys(K, call.allowed), default_scale(Q));
  return mix(add(E, Q.tape->constant(bias, "bias")).named("E biased"), hide_keys(V, call.allowed), call);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
