#include "layers/attention/flash.h"

#include <algorithm>
#include <limits>
#include <string>

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNoScoreYet = -1e30;  // finite: -inf - (-inf) would be NaN

static Var filled(Tape& tape, Shape s, double value, const char* name) {
  Matrix m(s);
  cpu_backend().fill(m, Real(value));
  return tape.constant(m, name);
}

// n x 1: the queries that see anything at all.
static Mask with_keys(const Mask& allowed) {
  Mask some(allowed.queries(), 1, false);
  for (int i = 0; i < allowed.queries(); ++i)
    for (int j = 0; j < allowed.keys(); ++j)
      if (allowed(i, j)) some.set(i, 0, true);
  return some;
}

static Mask columns(const Mask& allowed, int first, int n) {
  Mask some(allowed.queries(), n, false);
  for (int i = 0; i < allowed.queries(); ++i)
    for (int j = 0; j < n; ++j) some.set(i, j, allowed(i, first + j));
  return some;
}

Var OnlineSoftmax::attend(Var Q, Var K, Var V, const Call& call) const {
  if (keys < 1) throw InputError("online softmax: a tile must have at least one key, not " + std::to_string(keys));
  Tape& tape = *Q.tape;
  const int n = Q.shape().rows, all = K.shape().rows;
  K = hide_keys(K, call.allowed);
  V = hide_keys(V, call.allowed);
  Var m = filled(tape, {n, 1}, kNoScoreYet, "m"), l = filled(tape, {n, 1}, 0, "l"), acc = filled(tape, {n, V.shape().cols}, 0, "acc");
  for (int first = 0, tile = 0; first < all; first += keys, ++tile) {
    const int some = std::min(keys, all - first);
    const std::string t = " " + std::to_string(tile);
    Var E = scaled_scores(Q, tape.rows(K, first, some), default_scale(Q)).named(("E" + t).c_str());
    if (call.allowed) E = mask(E, columns(*call.allowed, first, some).keep(), -kInf);
    const Var top = maximum(m, detach(row_max(E))).named(("m" + t).c_str());  // Y does not depend on it: no gradient
    const Var P = exp(sub_col(E, top)).named(("P" + t).c_str()), a = exp(sub(m, top)).named(("a" + t).c_str());
    l = add(mul(a, l), row_sum(P)).named(("l" + t).c_str());
    acc = add(mul_col(acc, a), matmul(P, tape.rows(V, first, some))).named(("acc" + t).c_str());
    m = top;
  }
  if (call.allowed) l = mask(l, with_keys(*call.allowed).keep(), 1);  // a query that sees nothing: 0 / 1
  const Var L = add(m, log(l)).named("L");
  if (call.allowed) mask(L, with_keys(*call.allowed).keep(), -kInf).named("L");
  return div_col(acc, l).named("Y");
}

// exp(E - L). Where a query sees nothing L is -inf: any other number will do there.
static Var weights_from(Var L, Var Q, Var K, const Mask* allowed) {
  const Var E = hide_pairs(scaled_scores(Q, hide_keys(K, allowed), default_scale(Q)), allowed);
  if (allowed) L = mask(L, with_keys(*allowed).keep(), 0);
  return exp(sub_col(E, L)).named("A");
}

Var FlashAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  Tape& tape = *Q.tape;
  Tiling tiling{.queries = queries, .keys = keys, .tau = tau, .with_L = true};
  Mask seen(0, 0);
  if (call.allowed && !call.allowed->hides_nothing()) {
    const bool padding = call.allowed->is_padding();
    tiling.causal = !padding && call.allowed->is_causal();
    tiling.keep = call.allowed->keep();
    if (padding || tiling.causal) tiling.keep = (seen = Mask::visible(call.allowed->seen(), 1)).keep();
  }
  const Var both = flash_attention(Q, K, V, default_scale(Q), tiling).named("Y L");
  const Var Y = tape.cols(both, 0, V.shape().cols).named("Y"), L = tape.cols(both, V.shape().cols, 1).named("L");
  if (call.weights) call.weights->push_back(weights_from(L, Q, K, call.allowed));
  return Y;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
