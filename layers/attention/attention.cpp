#include "layers/attention/attention.h"

#include <cmath>
#include <limits>

namespace glass {
inline namespace GLASS_PRECISION {

Var attention_steps(Var Q, Var K, Var V, const Mask* allowed) {
  if (allowed) {
    K = drop_hidden(K, allowed->keep());
    V = drop_hidden(V, allowed->keep());
  }
  const Var S = matmul_nt(Q, K).named("S");
  Var E = scale(S, 1 / std::sqrt(double(Q.shape().cols))).named("E");
  if (allowed) E = mask(E, allowed->keep(), -std::numeric_limits<double>::infinity()).named("E masked");
  const Var A = softmax(E).named("A");
  return matmul(A, V).named("Y");
}

Var attention_fused(Var Q, Var K, Var V, const Mask* allowed) {
  const Keep keep = allowed ? allowed->keep() : Keep{};
  return attention(Q, K, V, 1 / std::sqrt(double(Q.shape().cols)), allowed ? &keep : nullptr).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
