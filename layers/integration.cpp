#include "layers/integration.h"

namespace glass {
inline namespace GLASS_PRECISION {

Integrated::Integrated(ParamStore& store, Integration f, int C, int heads, Rng& rng) : form(f) {
  const bool half = form == Integration::augmented;
  if (half && C % 2) throw ShapeError("augmented: a width of " + std::to_string(C) + " has no halves");
  if (form == Integration::conv) conv.emplace_back(store, "_conv", C, C, 3, 1, rng);
  if (form == Integration::recurrent) recurrent.emplace_back(store, "", C, C, rng);
  if (half) {
    conv.emplace_back(store, "_conv", C, C / 2, 3, 1, rng);
    narrow.emplace_back(store, "_in", C, C / 2, rng, Bias::no);
  }
  attention.emplace_back(store, "", half ? C / 2 : C, heads, rng);
}

Var Integrated::operator()(Var X, const Heads& cut) const {
  if (form == Integration::augmented) {
    const Var parts[] = {conv[0](X).named("local"), attention[0](narrow[0](X), cut).named("global")};
    return concat_cols(parts, 2).named("Y");
  }
  if (form == Integration::conv) X = tanh(conv[0](X)).named("H");
  if (form == Integration::recurrent) X = recurrent[0](X);
  return attention[0](X, cut);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
