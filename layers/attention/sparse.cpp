#include "layers/attention/sparse.h"

#include <algorithm>

#include "engine/errors.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

Var sparse_attention(Var Q, Var K, Var V, const KeyLists& allowed) {
  return sparse_attention(Q, K, V, default_scale(Q), FlatLists(allowed).pairs()).named("Y");
}

Var Sparse::attend(Var Q, Var K, Var V, const Call& call) const {
  const KeyLists mine = pattern(Q.shape().rows, K.shape().rows);
  const Var Y = sparse_attention(Q, K, V, call.allowed ? mine & *call.allowed : mine);
  if (call.weights) call.weights->push_back(weights_of(Y));
  return Y;
}

const std::vector<const Sparse*>& sparse_patterns() {
  static const SparseWindow window;
  static const SparseDilated dilated;
  static const SparseStrided strided;
  static const SparseFixed fixed;
  static const SparseGlobal global;
  static const SparseRandom random;
  static const SparseBlocks blocks;
  static const std::vector<const Sparse*> all = {&window, &dilated, &strided, &fixed, &global, &random, &blocks};
  return all;
}

Var Longformer::operator()(Var Q, Var K, Var V, Var Q_g, Var K_g, Var V_g, const Mask* allowed) const {
  const int n = K.shape().rows;
  if (Q.shape().rows != n) {
    throw ShapeError("Longformer needs as many queries as keys, not " + std::to_string(Q.shape().rows) + " and " + std::to_string(n));
  }
  KeyLists all = window(n, n, w) | global_tokens(n, n, global);
  if (allowed) all = all & *allowed;
  KeyLists ordinary(n, n), of_global(n, n);
  for (int i = 0; i < n; ++i) {
    const bool is_global = std::find(global.begin(), global.end(), i) != global.end();
    (is_global ? of_global : ordinary).of[std::size_t(i)] = all.of[std::size_t(i)];
  }
  const Var mine = sparse_attention(Q, K, V, ordinary).named("Y ordinary");
  return add(mine, sparse_attention(Q_g, K_g, V_g, of_global).named("Y global")).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
