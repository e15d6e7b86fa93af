#include "layers/attention/flash.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "layers/attention/multi_head.h"

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

static bool last_sees_all(const Mask& allowed) {
  for (int j = 0; j < allowed.keys() && allowed.queries() > 0; ++j)
    if (!allowed(allowed.queries() - 1, j)) return false;
  return true;
}

// A mask, or one for each sequence, as shortly as all of them can be said. The bytes are what the result's keep points to.
static Tiling tiling_of(const FlashAttention& flash, const Mask* masks, int n, std::vector<unsigned char>& bytes) {
  Tiling tiling{.queries = flash.queries, .keys = flash.keys, .tau = flash.tau};
  bool nothing = true, padding = true, causal = true, flag_says_it = true;
  for (int b = 0; masks && b < n; ++b) {
    nothing = nothing && masks[b].hides_nothing();
    padding = padding && masks[b].is_padding();
    causal = causal && masks[b].is_causal();
    flag_says_it = flag_says_it && causal && last_sees_all(masks[b]);
  }
  if (!masks || nothing) return tiling;
  tiling.causal = causal && !padding;
  if (tiling.causal && flag_says_it) return tiling;
  for (int b = 0; b < n; ++b) {
    const Mask seen = Mask::visible(masks[b].seen(), 1);
    const Keep keep = padding || causal ? seen.keep() : masks[b].keep();
    bytes.insert(bytes.end(), keep.data, keep.data + count({keep.rows, keep.cols}));
  }
  tiling.keep = {bytes.data(), padding || causal ? n : n * masks[0].queries(), masks[0].keys()};
  tiling.masks = n;
  return tiling;
}

Var FlashAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  Tape& tape = *Q.tape;
  std::vector<unsigned char> bytes;
  Tiling tiling = tiling_of(*this, call.allowed, 1, bytes);
  tiling.with_L = true;
  const Var both = flash_attention(Q, K, V, default_scale(Q), tiling).named("Y L");
  const Var Y = tape.cols(both, 0, V.shape().cols).named("Y"), L = tape.cols(both, V.shape().cols, 1).named("L");
  if (call.weights) call.weights->push_back(weights_from(L, Q, K, call.allowed));
  return Y;
}

Var FlashAttention::attend_all(Var Q, Var K, Var V, const Heads& cut) const {
  std::vector<unsigned char> bytes;
  Tiling tiling = tiling_of(*this, cut.mask, cut.mask_each ? cut.batch : 1, bytes);
  tiling.batch = cut.batch, tiling.heads = cut.heads, tiling.kv_heads = cut.groups();
  return flash_attention(Q, K, V, 1 / std::sqrt(double(Q.shape().cols / cut.heads)), tiling);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
