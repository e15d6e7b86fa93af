#include "layers/feed_forward.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Param* make_gate(ParamStore& store, const std::string& suffix, int width, int hidden, Activation activation,
                        Rng& rng, Bias bias) {
  if (activation != Activation::swiglu) return nullptr;
  if (bias == Bias::yes) throw InputError("feed_forward: swiglu has no biases");
  return &store.make("W_gate" + suffix, {width, hidden}, Init::xavier, rng);
}

FeedForward::FeedForward(ParamStore& store, const std::string& suffix, int width, int hidden, Activation a, Rng& rng,
                         Bias bias)
    : activation(a),
      W_gate(make_gate(store, suffix, width, hidden, a, rng, bias)),
      up(store, (W_gate ? "_up" : "_1") + suffix, width, hidden, rng, bias),
      down(store, (W_gate ? "_down" : "_2") + suffix, hidden, width, rng, bias) {}

FeedForward::FeedForward(ParamStore& store, const std::string& suffix, int width, int hidden, Activation a, Rng& rng)
    : FeedForward(store, suffix, width, hidden, a, rng, a == Activation::swiglu ? Bias::no : Bias::yes) {}

static Var activate(Activation activation, Var U) {
  switch (activation) {
    case Activation::relu: return relu(U);
    case Activation::gelu: return gelu(U);
    case Activation::gelu_tanh: return gelu_tanh(U);
    case Activation::swiglu: break;  // has a gate instead
  }
  return U;
}

Var FeedForward::operator()(Var X, Dropout* drop) const {
  Var H;
  if (W_gate) {
    const Var G = matmul(X, X.tape->use(*W_gate)).named("G");
    const Var U = up(X).named("U");
    H = mul(silu(G), U).named("H");
  } else {
    H = activate(activation, up(X).named("U")).named("H");
  }
  if (drop) H = (*drop)(H);
  return down(H).named("Y");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
