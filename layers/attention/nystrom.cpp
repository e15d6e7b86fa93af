#include "layers/attention/nystrom.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

void NystromAttention::add_conv(ParamStore& store, const std::string& suffix, int taps, int heads, Rng& rng) {
  if (taps < 1 || taps % 2 == 0) throw InputError("Nystrom attention: the filter needs an odd number of taps, not " + std::to_string(taps));
  filter = &store.make("filter" + suffix, {taps, heads}, Init::xavier, rng);
}

Var segment_means(Var x, int segments) {
  const int n = x.shape().rows;
  if (segments < 1 || segments > n) throw ShapeError("segment_means: " + std::to_string(n) + " rows cannot be cut into " + std::to_string(segments) + " segments");
  Matrix P(Shape{segments, n});
  for (int s = 0; s < segments; ++s) {
    const int from = int(long(s) * n / segments), to = int(long(s + 1) * n / segments);
    for (int j = from; j < to; ++j) P(s, j) = Real(1) / Real(to - from);
  }
  return matmul(x.tape->constant(P, "means"), x);
}

static Matrix identity_times(double s, int n) {
  Matrix I(Shape{n, n});
  for (int i = 0; i < n; ++i) I(i, i) = Real(s);
  return I;
}

Var pseudo_inverse(Var B, int iterations) {
  Tape& tape = *B.tape;
  const int l = B.shape().rows;
  const Var I7 = tape.constant(identity_times(7, l), "7 I"), I13 = tape.constant(identity_times(13, l), "13 I");
  const Var I15 = tape.constant(identity_times(15, l), "15 I"), one = tape.constant(Matrix{{1}}, "1");
  const Var largest_sums = mul(max(col_sum(B)), max(row_sum(B)));  // all entries are positive
  Var Z = mul_scalar(transpose(B), div(one, largest_sums)).named("Z 0");
  for (int step = 1; step <= iterations; ++step) {
    const Var T = matmul(B, Z);
    const Var inner = sub(I15, matmul(T, sub(I7, T)));
    Z = scale(matmul(Z, sub(I13, matmul(T, inner))), 0.25).named(("Z " + std::to_string(step)).c_str());
  }
  return Z;
}

// One filter for the whole head: its column of taps beside itself, once for each channel.
static Var convolved(Var V, Var filter, int head) {
  Tape& tape = *V.tape;
  const int taps = filter.shape().rows, d_v = V.shape().cols;
  Matrix ones(Shape{1, d_v});
  tape.be.fill(ones, 1);
  const Var each = matmul(tape.cols(filter, head, 1), tape.constant(ones, "ones"));
  return depthwise_conv1d(V, each, (taps - 1) / 2).named("conv");
}

Var NystromAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  if (filter && call.head >= filter->value.cols()) {
    throw ShapeError("nystrom attention: there are filters for " + std::to_string(filter->value.cols()) + " heads, but this is head " + std::to_string(call.head));
  }
  const double s = std::pow(double(Q.shape().cols), -0.25);
  V = hide_keys(V, call.allowed);
  const Var q = scale(Q, s), k = scale(hide_keys(K, call.allowed), s);
  const int l = std::min({landmarks, q.shape().rows, k.shape().rows});
  const Var q_l = segment_means(q, l).named("q~"), k_l = segment_means(k, l).named("k~");
  const Var F1 = softmax(matmul_nt(q, k_l)).named("F1");
  const Var B = softmax(matmul_nt(q_l, k_l)).named("B");
  Var scores = matmul_nt(q_l, k);
  if (call.allowed) {
    const Mask seen = Mask::visible(call.allowed->seen(), l);
    scores = mask(scores, seen.keep(), -std::numeric_limits<double>::infinity());
  }
  const Var F3 = softmax(scores).named("F3");
  const Var Y = matmul(F1, matmul(pseudo_inverse(B, iterations), matmul(F3, V)));
  if (!filter) return Y.named("Y");
  return add(Y, convolved(V, Q.tape->use(*filter), call.head)).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
