#include "layers/attention/plain.h"

#include <cmath>
#include <limits>

namespace glass {
inline namespace GLASS_PRECISION {

const Plain plain_attention;
const Fused fused_attention;

Var Plain::attend(Var Q, Var K, Var V, const Call& call) const {
  const Var Y = attention_steps(Q, K, V, call.allowed);
  if (call.weights) call.weights->push_back(Y.tape->var(Y.tape->node(Y).in[0]));  // Y = A V reads A first
  return Y;
}

Var Fused::attend(Var Q, Var K, Var V, const Call& call) const {
  const Var Y = attention_fused(Q, K, V, call.allowed);
  if (call.weights) call.weights->push_back(weights_of(Y));
  return Y;
}

Var Dropped::attend(Var Q, Var K, Var V, const Call& call) const {
  const Var E = scaled_scores(Q, hide_keys(K, call.allowed), default_scale(Q));
  const Var A = softmax(hide_pairs(E, call.allowed));
  return mix_by((*dropout)(A), hide_keys(V, call.allowed), call);
}

double default_scale(Var Q) { return 1 / std::sqrt(double(Q.shape().cols)); }

Var hide_keys(Var K, const Mask* allowed) { return allowed ? drop_hidden(K, allowed->keep()) : K; }

Var scaled_scores(Var Q, Var K, double s) {
  const Var S = matmul_nt(Q, K).named("S");
  return scale(S, s).named("E");
}

Var hide_pairs(Var E, const Mask* allowed) {
  return allowed ? mask(E, allowed->keep(), -std::numeric_limits<double>::infinity()).named("E masked") : E;
}

Var mix(Var E, Var V, const Call& call) { return mix_by(softmax(hide_pairs(E, call.allowed)), V, call); }

Var mix_by(Var A, Var V, const Call& call) {
  A.named("A");
  if (call.weights) call.weights->push_back(A);
  return matmul(A, V).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
