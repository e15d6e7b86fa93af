#include "layers/attention/qk_norm.h"

#include <cmath>
#include <limits>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const double kInf = std::numeric_limits<double>::infinity();

Var unit_rows(Var X) {
  const Var length = sqrt(row_sum(mul(X, X))).named("length");
  return div_col(X, clamp(length, 1e-12, kInf));
}

// E = tau Q Kᵀ with a tau that is a line of the tape: "S", "E".
static Var scores_times(Var Q, Var K, Var tau) {
  const Var S = matmul_nt(Q, K).named("S");
  return mul_scalar(S, tau).named("E");
}

static Param& start_at(Param& p, double value) {
  Matrix start(p.value.shape());
  for (int j = 0; j < start.cols(); ++j) start(0, j) = Real(value);
  p.set(start);
  return p;
}

RmsQkNorm::RmsQkNorm(ParamStore& store, const std::string& suffix, int d, Rng& rng, double eps)
    : q(store, "_q" + suffix, d, rng, eps), k(store, "_k" + suffix, d, rng, eps) {}

Var RmsQkNorm::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var Qhat = q(Q).named("Qhat"), Khat = k(K).named("Khat");
  return mix(scaled_scores(Qhat, Khat, default_scale(Q)), V, call);
}

LayerQkNorm::LayerQkNorm(ParamStore& store, const std::string& suffix, int d, Rng& rng, double eps)
    : q(store, "_q" + suffix, d, rng, eps), k(store, "_k" + suffix, d, rng, eps) {}

Var LayerQkNorm::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var Qhat = q(Q).named("Qhat"), Khat = k(K).named("Khat");
  return mix(scaled_scores(Qhat, Khat, default_scale(Q)), V, call);
}

L2QkNorm::L2QkNorm(ParamStore& store, const std::string& suffix, int length, Rng& rng) {
  if (length < 2) throw InputError("l2 qk-norm: sequences must have 2 tokens or more, not " + std::to_string(length));
  g = &start_at(store.make("g" + suffix, {1, 1}, Init::zeros, rng), std::log2(double(length) * length - length));
}

Var L2QkNorm::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var Qhat = unit_rows(Q).named("Qhat"), Khat = unit_rows(K).named("Khat");
  return mix(scores_times(Qhat, Khat, Q.tape->use(*g)), V, call);
}

CosineAttention::CosineAttention(ParamStore& store, const std::string& suffix, int heads, Rng& rng)
    : t(&start_at(store.make("t" + suffix, {1, heads}, Init::zeros, rng), std::log(10.0))) {}

Var CosineAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  if (call.head >= t->value.cols()) {
    throw ShapeError("cosine attention has temperatures for " + std::to_string(t->value.cols()) + " heads, none for head " + std::to_string(call.head));
  }
  Tape& tape = *Q.tape;
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var Qhat = unit_rows(Q).named("Qhat"), Khat = unit_rows(K).named("Khat");
  const Var tau = exp(clamp(tape.cols(tape.use(*t), call.head, 1), -kInf, std::log(100.0))).named("tau");
  return mix(scores_times(Qhat, Khat, tau), V, call);
}

LearnedTemperature::LearnedTemperature(ParamStore& store, const std::string& suffix, int d, Rng& rng)
    : t(&start_at(store.make("t" + suffix, {1, 1}, Init::zeros, rng), -std::log(double(d)) / 2)) {}

Var LearnedTemperature::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  return mix(scores_times(Q, K, exp(Q.tape->use(*t)).named("tau")), V, call);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
