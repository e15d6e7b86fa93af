#include "layers/attention/top_k.h"

#include <limits>

#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

Var TopK::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var E = hide_pairs(scaled_scores(Q, K, default_scale(Q)), call.allowed);
  const Var top = top_k_mask(E, k, -std::numeric_limits<double>::infinity()).named("E top");
  return mix_by(softmax(top), V, call);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
