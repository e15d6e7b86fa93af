#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

Linear::Linear(ParamStore& store, const std::string& suffix, int in, int out, Rng& rng, Bias bias, Start start)
    : W(&store.make("W" + suffix, {in, out}, start, rng)),
      b(bias == Bias::yes ? &store.make("b" + suffix, {1, out}, Init::zeros, rng) : nullptr) {}

Var Linear::operator()(Var X) const {
  if (fused && b) {
    const Var w = X.tape->use(*W), bias = X.tape->use(*b);
    return linear(X, w, bias);
  }
  const Var Y = matmul(X, X.tape->use(*W));
  return b ? add_row(Y, X.tape->use(*b)) : Y;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
