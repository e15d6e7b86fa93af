#include "layers/attention/kv_cache.h"

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

KvCache::KvCache(int capacity, int key_width, int value_width, Backend* home) : K(Shape{capacity, key_width}, home), V(Shape{capacity, value_width}, home) {}

void KvCache::append(Var k, Var v) {
  const Shape ks = k.shape(), vs = v.shape();
  if (ks.cols != K.cols() || vs.cols != V.cols() || ks.rows != vs.rows) {
    throw ShapeError("kv_cache: keys " + to_text(ks.rows, ks.cols) + " and values " + to_text(vs.rows, vs.cols) + " do not fit: this cache has widths " +
                     std::to_string(K.cols()) + " and " + std::to_string(V.cols()) + ", and a value for each key");
  }
  if (ks.rows > K.rows() - tokens) {
    throw InputError("kv_cache: no room for " + std::to_string(ks.rows) + " more tokens, " + std::to_string(tokens) + " of " + std::to_string(K.rows()) +
                     " rows are in use");
  }
  Backend& be = k.tape->be;
  be.copy(k.value(), K.view().block(tokens, 0, ks.rows, ks.cols));
  be.copy(v.value(), V.view().block(tokens, 0, vs.rows, vs.cols));
  tokens += ks.rows;
}

Var KvCache::keys(Tape& tape) const { return tape.expose(K.view().block(0, 0, tokens, K.cols()), "K cache"); }
Var KvCache::values(Tape& tape) const { return tape.expose(V.view().block(0, 0, tokens, V.cols()), "V cache"); }

std::size_t KvCache::bytes() const { return std::size_t(tokens) * std::size_t(K.cols() + V.cols()) * sizeof(Real); }

Var multi_head_cached(Var Q, Var K, Var V, KvCache& cache, const Heads& wanted, const Variant& variant) {
  if (wanted.batch != 1) throw ShapeError("kv_cache: one cache holds one sequence, not a batch of " + std::to_string(wanted.batch));
  if (wanted.mask) throw ShapeError("kv_cache: the mask is made here, causal; another one was given");
  if (Q.shape().rows != K.shape().rows) {
    throw ShapeError("kv_cache: each new token brings a query and a key, but there are " + std::to_string(Q.shape().rows) + " and " +
                     std::to_string(K.shape().rows));
  }
  cache.append(K, V);
  const Mask causal = Mask::causal(Q.shape().rows, cache.tokens);
  Heads cut = wanted;
  cut.mask = &causal;
  return multi_head(Q, cache.keys(*Q.tape), cache.values(*Q.tape), cut, variant);
}

Var decode(const MultiHeadAttention& layer, Var X, KvCache& cache, std::vector<Var>* weights) {
  const Heads cut{.heads = layer.heads, .kv_heads = layer.kv_heads, .weights = weights};
  const Var Q = layer.q(X).named("Q"), K = layer.k(X).named("K"), V = layer.v(X).named("V");
  return layer.o(multi_head_cached(Q, K, V, cache, cut, *layer.variant)).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
