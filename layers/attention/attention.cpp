#include "layers/attention/attention.h"

#include <cmath>
#include <limits>

namespace glass {
inline namespace GLASS_PRECISION {

Var attention_steps(Var Q, Var K, Var V, const Mask* hide) {
  if (hide) {
    K = drop_hidden(K, hide->keep());
    V = drop_hidden(V, hide->keep());
  }
  const Var S = matmul_nt(Q, K).named("S");
  Var E = scale(S, 1 / std::sqrt(double(Q.shape().cols))).named("E");
  if (hide) E = mask(E, hide->keep(), -std::numeric_limits<double>::infinity()).named("E masked");
  const Var A = softmax(E).named("A");
  return matmul(A, V).named("Y");
}

Var attention_fused(Var Q, Var K, Var V, const Mask* hide) {
  const Keep keep = hide ? hide->keep() : Keep{};
  return attention(Q, K, V, 1 / std::sqrt(double(Q.shape().cols)), hide ? &keep : nullptr).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
