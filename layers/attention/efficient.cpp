#include "layers/attention/efficient.h"

#include <limits>

namespace glass {
inline namespace GLASS_PRECISION {

Var EfficientAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  const Var R = softmax(Q).named("R");
  Var scores = transpose(hide_keys(K, call.allowed));
  if (call.allowed) {
    const Mask seen = Mask::visible(call.allowed->seen(), scores.shape().rows);
    scores = mask(scores, seen.keep(), -std::numeric_limits<double>::infinity());
  }
  const Var M = softmax(scores).named("M");
  const Var C = matmul(M, hide_keys(V, call.allowed)).named("C");
  return matmul(R, C).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
