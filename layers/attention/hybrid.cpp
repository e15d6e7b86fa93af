#include "layers/attention/hybrid.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace glass {
inline namespace GLASS_PRECISION {

static Mask near(int n, int m, int window, const Mask* allowed) {
  Mask near(n, m, false);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) near.set(i, j, std::abs(i + m - n - j) < window);
  return allowed ? near & *allowed : near;
}

static Var largest_or_zero(Var E) { return detach(relu(row_max(E))); }  // of each row; a constant, for it cancels

Var HybridAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const int n = Q.shape().rows, m = K.shape().rows;
  const Mask by_softmax = near(n, m, window, call.allowed);
  const Var E = scaled_scores(Q, K, default_scale(Q));
  const Var a = elu_plus_one(Q).named("a"), b = elu_plus_one(K).named("b");
  const Var c = largest_or_zero(mask(E, by_softmax.keep(), 0));
  Var far = mul_col(matmul_nt(a, b), exp(neg(c)));
  if (call.allowed) far = mask(far, call.allowed->keep(), 0);
  const Var W = select(by_softmax.keep(), exp(mask(sub_col(E, c), by_softmax.keep(), 0)), far).named("W");
  return mix_by(normalise(W, row_sum(W), 0, call.allowed), V, call);
}

Var hybrid_recurrent(Var Q, Var K, Var V, int window) {
  Tape& tape = *Q.tape;
  const int n = Q.shape().rows, m = K.shape().rows, d_v = V.shape().cols;
  const Var far = causal_sums(elu_plus_one(Q), elu_plus_one(K), V, window);
  std::vector<Var> rows;
  for (int i = 0; i < n; ++i) {
    const int end = std::max(i + m - n + 1, 0), first = std::max(end - window, 0);
    const Var row = tape.rows(far, i, 1), all = tape.cols(row, 0, d_v), sum = tape.cols(row, d_v, 1);
    if (first == end) {  // no key is near
      rows.push_back(end ? div_col(all, sum) : all);
      continue;
    }
    const Var E = scaled_scores(tape.rows(Q, i, 1), tape.rows(K, first, end - first), default_scale(Q));
    const Var c = largest_or_zero(E), W = exp(sub_col(E, c)), shrink = exp(neg(c));
    const Var num = add(matmul(W, tape.rows(V, first, end - first)), mul_col(all, shrink));
    rows.push_back(div_col(num, add(row_sum(W), mul_col(sum, shrink))));
  }
  return concat_rows(rows.data(), n).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
