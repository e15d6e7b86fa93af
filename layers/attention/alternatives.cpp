#include "layers/attention/alternatives.h"

#include <cmath>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

SigmoidAttention::SigmoidAttention(ParamStore& store, const std::string& suffix, int longest, Rng& rng)
    : b(&store.make("b" + suffix, {1, 1}, Init::zeros, rng)) {
  if (longest < 1) throw InputError("sigmoid attention: the maximal length must be 1 or more, not " + std::to_string(longest));
  b->set(Matrix{{-std::log(double(longest))}});
}

Var SigmoidAttention::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var bias = Q.tape->use(*b);  // a line of its own: compilers differ in which argument of a call comes first
  const Var E = add_scalar(scaled_scores(Q, K, default_scale(Q)), bias).named("E + b");
  return mix_by(sigmoid(hide_pairs(E, call.allowed)), V, call);
}

// softmax([E | sink]) without its last column. sink: n x 1, an extra key that every query may see.
static Var softmax_with_sink(Var E, Var sink) {
  const Var both[] = {E, sink};
  const Var with_sink = softmax(concat_cols(both, 2).named("E, sink")).named("A, sink");
  return E.tape->cols(with_sink, 0, E.shape().cols);
}

Var OffByOne::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var E = hide_pairs(scaled_scores(Q, K, default_scale(Q)), call.allowed);
  const Var zero = Q.tape->constant(Matrix(Shape{E.shape().rows, 1}), "zero");
  return mix_by(softmax_with_sink(E, zero), V, call);
}

LearnedSink::LearnedSink(ParamStore& store, const std::string& suffix, int heads, Rng& rng) : s(&store.make("s" + suffix, {1, heads}, Init::zeros, rng)) {}

Var LearnedSink::attend(Var Q, Var K, Var V, const Call& call) const {
  if (call.head >= s->value.cols()) {
    throw ShapeError("learned sink attention has sinks for " + std::to_string(s->value.cols()) + " heads, none for head " + std::to_string(call.head));
  }
  Tape& tape = *Q.tape;
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var E = hide_pairs(scaled_scores(Q, K, default_scale(Q)), call.allowed);
  const Var zero = tape.constant(Matrix(Shape{E.shape().rows, 1}), "zero");
  const Var sink = add_scalar(zero, tape.cols(tape.use(*s), call.head, 1));  // s in every row
  return mix_by(softmax_with_sink(E, sink), V, call);
}

SoftCap::SoftCap(double c) : cap(c) {
  if (!(c > 0)) throw InputError("soft cap: the cap must be above 0, not " + to_text(c));
}

Var SoftCap::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  const Var E = scaled_scores(Q, K, default_scale(Q));
  const Var capped = scale(tanh(scale(E, 1 / cap)), cap).named("E capped");
  return mix(capped, V, call);
}

Var Sparsemax::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  return mix_by(sparsemax(hide_pairs(scaled_scores(Q, K, default_scale(Q)), call.allowed)), V, call);
}

Var Entmax15::attend(Var Q, Var K, Var V, const Call& call) const {
  K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
  return mix_by(entmax15(hide_pairs(scaled_scores(Q, K, default_scale(Q)), call.allowed)), V, call);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
