#include "layers/attention/multi_token.h"

#include <algorithm>
#include <cmath>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

const MultiTokenHead multi_token_attention;

using Each = std::vector<Var>;  // one matrix for each head

static bool given(Var part) { return part.tape != nullptr; }

static void require_parts(const MultiTokenParts& parts, const Heads& cut, int n, int m, const MultiTokenPast* past) {
  const std::string heads = std::to_string(cut.heads) + " heads";
  for (const Var w : {parts.scores_kernel, parts.weights_kernel}) {
    if (given(w) && w.shape().rows % cut.heads)
      throw ShapeError("multi_token: kernels of " + std::to_string(w.shape().rows) + " rows cannot be shared out to " +
                       heads);
  }
  for (const Var H : {parts.scores_mix, parts.weights_mix}) {
    if (!given(H) || (H.shape().rows == cut.heads && H.shape().cols > 0 && cut.heads % H.shape().cols == 0)) continue;
    throw ShapeError("multi_token: a mix of " + to_text(H.shape().rows, H.shape().cols) + " does not fit " + heads +
                     " in equal groups");
  }
  const bool looks_back = given(parts.scores_kernel) || given(parts.weights_kernel);
  if ((looks_back || past) && n + (past ? past->tokens : 0) != m) {
    throw ShapeError("multi_token: " + std::to_string(n) + " queries" +
                     (past ? " after " + std::to_string(past->tokens) + " tokens" : "") + " do not fit " +
                     std::to_string(m) + " keys: a kernel needs the rows of the earlier queries");
  }
}

static Var zero_hidden(Var x, const Mask* allowed) { return allowed ? mask(x, allowed->keep(), 0) : x; }

// conv2d_causal(X, W), where the rows of X go on from those in `past`, which had fewer keys.
static Var convolve(Var X, Var W, Matrix* past) {
  if (!past) return conv2d_causal(X, W);
  const Shape x = X.shape();
  Matrix earlier(Shape{past->rows(), x.cols});
  cpu_backend().copy(*past, earlier.view().block(0, 0, past->rows(), past->cols()));
  const Var parts[] = {X.tape->constant(earlier, "earlier rows"), X};
  const Var all = concat_rows(parts, 2);
  const int keep = std::min(all.shape().rows, W.shape().rows - 1);
  *past = Matrix(all.value().block(all.shape().rows - keep, 0, keep, x.cols));
  return X.tape->rows(conv2d_causal(all, W), earlier.rows(), x.rows);
}

static void convolve_each(Each& X, Var kernels, std::vector<Matrix>* past, std::size_t first) {
  if (!given(kernels)) return;
  const int c_q = kernels.shape().rows / int(X.size());
  if (past) past->resize(std::max(past->size(), first + X.size()));
  for (std::size_t h = 0; h < X.size(); ++h) {
    X[h] = convolve(X[h], kernels.tape->rows(kernels, int(h) * c_q, c_q), past ? &(*past)[first + h] : nullptr);
  }
}

std::vector<Var> mix_heads(const std::vector<Var>& X, Var H) {
  std::vector<Var> mixed = X;
  const int c_h = H.shape().cols;
  for (int g = 0; g < int(X.size()); ++g) {
    for (int k = 0; k < c_h; ++k) {
      const Var part = mul_scalar(X[std::size_t(g / c_h * c_h + k)], H.tape->view(H, g, k, 1, 1));
      mixed[std::size_t(g)] = k ? add(mixed[std::size_t(g)], part) : part;
    }
  }
  return mixed;
}

static void name_each(const Each& X, const char* name) {
  for (const Var x : X) x.named(name);
}

static Var normed(Var O, const MultiTokenParts& parts) {
  if (!given(parts.gain)) return O;
  const Var N = rms_norm(O, parts.gain).named("N");
  if (!given(parts.gate)) return scale(N, parts.factor).named("Y");
  return mul_col(N, sigmoid(add_scalar(matmul(N, parts.gate), parts.gate_bias)).named("open")).named("Y");
}

Var multi_token(Var Q, Var K, Var V, const Heads& cut, const MultiTokenParts& parts, MultiTokenPast* past) {
  require_heads(Q.shape(), K.shape(), V.shape(), cut);
  Tape& tape = *Q.tape;
  const int n = Q.shape().rows / cut.batch, m = K.shape().rows / cut.batch, share = cut.heads / cut.groups();
  const int d = Q.shape().cols / cut.heads, d_k = K.shape().cols / cut.groups(), d_v = V.shape().cols / cut.groups();
  require_parts(parts, cut, n, m, past);
  Each sequences;
  for (int b = 0; b < cut.batch; ++b) {
    const Mask* allowed = cut.mask_of(b);
    const std::size_t first = std::size_t(b) * std::size_t(cut.heads);
    Each X, values;
    for (int h = 0; h < cut.heads; ++h) {
      const Var k = tape.view(K, b * m, h / share * d_k, m, d_k), v = tape.view(V, b * m, h / share * d_v, m, d_v);
      X.push_back(scaled_scores(tape.view(Q, b * n, h * d, n, d), hide_keys(k, allowed), 1 / std::sqrt(double(d))));
      values.push_back(hide_keys(v, allowed));
    }
    for (Var& x : X) x = zero_hidden(x, allowed).named(allowed ? "E0" : "E");
    convolve_each(X, parts.scores_kernel, past ? &past->scores : nullptr, first);
    if (given(parts.scores_kernel)) name_each(X, "C");
    if (given(parts.scores_mix)) name_each(X = mix_heads(X, parts.scores_mix), "M");
    for (Var& x : X) x = softmax(hide_pairs(x, allowed)).named("A");
    convolve_each(X, parts.weights_kernel, past ? &past->weights : nullptr, first);
    if (given(parts.weights_kernel)) {
      for (Var& x : X) x = zero_hidden(x, allowed).named("B");
    }
    if (given(parts.weights_mix)) name_each(X = mix_heads(X, parts.weights_mix), "P");
    if (cut.weights) cut.weights->insert(cut.weights->end(), X.begin(), X.end());
    for (std::size_t h = 0; h < X.size(); ++h) X[h] = normed(matmul(X[h], values[h]).named("O"), parts);
    sequences.push_back(cut.heads == 1 ? X[0] : concat_cols(X.data(), cut.heads).named("heads"));
  }
  if (past) past->tokens = m;
  return cut.batch == 1 ? sequences[0] : concat_rows(sequences.data(), cut.batch).named("heads");
}

double depth_lambda(int layer) { return 0.8 - 0.6 * std::exp(-0.3 * layer); }

// heads kernels that pass on what they meet: 1 for the query itself and the key itself
static Param* identity_kernels(ParamStore& store, const std::string& name, int heads, const MultiTokenSettings& s,
                               Rng& rng) {
  Param& w = store.make(name, {heads * s.c_q, s.c_k}, Init::zeros, rng);
  Matrix start(w.value.shape());
  for (int h = 0; h < heads; ++h) start(h * s.c_q + s.c_q - 1, s.c_k / 2) = 1;
  w.set(start);
  return &w;
}

static Param* identity_mix(ParamStore& store, const std::string& name, int heads, int c_h, Rng& rng) {
  Param& H = store.make(name, {heads, c_h}, Init::zeros, rng);
  Matrix start(H.value.shape());
  for (int g = 0; g < heads; ++g) start(g, g % c_h) = 1;
  H.set(start);
  return &H;
}

MultiToken::MultiToken(ParamStore& store, const std::string& suffix, int h, int d_v, Rng& rng,
                       const MultiTokenSettings& s)
    : heads(h), settings(s) {
  const int c_h = s.c_h ? s.c_h : h;
  if (s.c_q < 1 || s.c_k < 1 || s.c_k % 2 == 0)
    throw ShapeError("multi_token: a kernel of " + to_text(s.c_q, s.c_k) + " has no middle column (c_k must be odd)");
  if (c_h < 1 || h % c_h)
    throw ShapeError("multi_token: " + std::to_string(h) + " heads cannot be mixed in groups of " +
                     std::to_string(c_h));
  if (s.scores_kernel) scores_kernel = identity_kernels(store, "w" + suffix, h, s, rng);
  if (s.weights_kernel) weights_kernel = identity_kernels(store, "w'" + suffix, h, s, rng);
  if (s.scores_mix) scores_mix = identity_mix(store, "H" + suffix, h, c_h, rng);
  if (s.weights_mix) weights_mix = identity_mix(store, "H'" + suffix, h, c_h, rng);
  if (s.scaling == MultiTokenSettings::Scaling::none) return;
  gain = &store.make("gain" + suffix, {1, d_v}, Init::ones, rng);
  if (s.scaling == MultiTokenSettings::Scaling::depth) return;
  gate = &store.make("gate" + suffix, {d_v, 1}, Init::xavier, rng);
  gate_bias = &store.make("gate_bias" + suffix, {1, 1}, Init::zeros, rng);
}

MultiTokenParts MultiToken::on(Tape& tape) const {
  MultiTokenParts parts;
  if (scores_kernel) parts.scores_kernel = tape.use(*scores_kernel);
  if (weights_kernel) parts.weights_kernel = tape.use(*weights_kernel);
  if (scores_mix) parts.scores_mix = tape.use(*scores_mix);
  if (weights_mix) parts.weights_mix = tape.use(*weights_mix);
  if (gain) parts.gain = tape.use(*gain);
  if (gate) parts.gate = tape.use(*gate), parts.gate_bias = tape.use(*gate_bias);
  if (settings.scaling == MultiTokenSettings::Scaling::depth) parts.factor = 1 - depth_lambda(settings.layer);
  return parts;
}

Var MultiToken::operator()(Var Q, Var K, Var V, Heads cut, MultiTokenPast* past) const {
  cut.heads = heads;
  return multi_token(Q, K, V, cut, on(*Q.tape), past);
}

Var MultiTokenHead::attend(Var Q, Var K, Var V, const Call& call) const {
  MultiTokenParts parts;
  if (scores_kernel.rows()) parts.scores_kernel = Q.tape->constant(scores_kernel, "w");
  if (weights_kernel.rows()) parts.weights_kernel = Q.tape->constant(weights_kernel, "w'");
  return multi_token(Q, K, V, {.mask = call.allowed, .weights = call.weights}, parts);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
