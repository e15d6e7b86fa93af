#include "layers/attention/multi_head.h"

#include <cstdio>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static void require_parts(const char* what, int size, const char* parts, int n) {
  if (n > 0 && size % n == 0) return;
  throw ShapeError("multi_head: " + std::string(what) + " (" + std::to_string(size) + ") cannot be cut into " + std::to_string(n) + " " + parts);
}

static void require_cut(int width, int heads, int kv_heads) {
  require_parts("the width", width, "heads", heads);
  require_parts("the number of heads", heads, "groups of key heads", kv_heads);
}

void require_heads(Shape q, Shape k, Shape v, const Heads& cut) {
  require_cut(q.cols, cut.heads, cut.groups());
  require_parts("the width of the keys", k.cols, "heads", cut.groups());
  require_parts("the width of the values", v.cols, "heads", cut.groups());
  require_parts("the rows of the queries", q.rows, "sequences", cut.batch);
  require_parts("the rows of the keys", k.rows, "sequences", cut.batch);
  if (k.rows != v.rows) {
    throw ShapeError("multi_head: there must be one value for each key, but K is " + to_text(k.rows, k.cols) + " and V is " + to_text(v.rows, v.cols));
  }
}

Var multi_head(Var Q, Var K, Var V, const Heads& cut, const Variant& variant) {
  require_heads(Q.shape(), K.shape(), V.shape(), cut);
  Tape& tape = *Q.tape;
  if (cut.batch * cut.heads > 1 && !cut.weights) {
    const Var whole = variant.all_heads(Q, K, V, cut);
    if (whole.tape) return whole.named("heads");
  }
  const int n = Q.shape().rows / cut.batch, m = K.shape().rows / cut.batch, share = cut.heads / cut.groups();
  const int d = Q.shape().cols / cut.heads, d_k = K.shape().cols / cut.groups(), d_v = V.shape().cols / cut.groups();
  // the tape's own memory and no std::string, so that a training step makes no heap call
  Var* const heads = static_cast<Var*>(tape.raw(std::size_t(cut.heads + cut.batch) * sizeof(Var), alignof(Var)));
  Var* const sequences = heads + cut.heads;
  char at[64];
  for (int b = 0; b < cut.batch; ++b) {
    for (int h = 0; h < cut.heads; ++h) {
      if (cut.batch > 1) std::snprintf(at, sizeof at, "sequence %d head %d", b, h);
      else std::snprintf(at, sizeof at, "head %d", h);
      const Scope scope(tape, at);
      const Var q = tape.view(Q, b * n, h * d, n, d), k = tape.view(K, b * m, h / share * d_k, m, d_k), v = tape.view(V, b * m, h / share * d_v, m, d_v);
      heads[h] = variant(q, k, v, {cut.mask_of(b), h, cut.heads, cut.weights});
    }
    sequences[b] = cut.heads == 1 ? heads[0] : concat_cols(heads, cut.heads).named("heads");
  }
  return cut.batch == 1 ? sequences[0] : concat_rows(sequences, cut.batch).named("heads");
}

static int width_of_keys(int C, int heads, int kv_heads) {  // checked before the first parameter is made
  require_cut(C, heads, kv_heads);
  return C / heads * kv_heads;
}

MultiHeadAttention::MultiHeadAttention(ParamStore& store, const std::string& suffix, int C, int h, Rng& rng, Bias bias, int kv, int C_z)
    : q(store, "_q" + suffix, C, (width_of_keys(C, h, kv ? kv : h), C), rng, bias),
      k(store, "_k" + suffix, C_z ? C_z : C, width_of_keys(C, h, kv ? kv : h), rng, bias),
      v(store, "_v" + suffix, C_z ? C_z : C, width_of_keys(C, h, kv ? kv : h), rng, bias),
      o(store, "_o" + suffix, C, C, rng, bias),
      heads(h),
      kv_heads(kv ? kv : h) {}

Var MultiHeadAttention::operator()(Var X, Var Z, Heads cut) const {
  cut.heads = heads;
  cut.kv_heads = kv_heads;
  const Var Q = q(X).named("Q"), K = k(Z).named("K"), V = v(Z).named("V");
  return o(multi_head(Q, K, V, cut, *variant)).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
