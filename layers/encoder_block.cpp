#include "layers/encoder_block.h"

namespace glass {
inline namespace GLASS_PRECISION {

EncoderBlock::EncoderBlock(ParamStore& store, const std::string& suffix, const BlockSettings& s, Rng& rng)
    : place(s.norm),
      attention(store, suffix, s.C, s.heads, rng, s.bias, s.kv_heads),
      feed_forward(store, suffix, s.C, s.hidden ? s.hidden : 4 * s.C, s.activation, rng, s.bias),
      norm_1(store, "_1" + suffix, s.C, rng, s.eps),
      norm_2(store, "_2" + suffix, s.C, rng, s.eps),
      drop_1(s.dropout, rng),
      drop_hidden(s.dropout, rng),
      drop_2(s.dropout, rng) {
  for (Linear* l : {&attention.q, &attention.k, &attention.v, &attention.o, &feed_forward.up, &feed_forward.down}) l->fused = s.fused;
}

Var EncoderBlock::operator()(Var X, const Heads& cut) {
  if (place == NormPlace::pre) {
    const Var N1 = norm_1(X).named("N1");
    const Var R1 = add(X, drop_1(attention(N1, cut))).named("R1");
    const Var N2 = norm_2(R1).named("N2");
    return add(R1, drop_2(feed_forward(N2, &drop_hidden))).named("R2");
  }
  const Var R1 = add(X, drop_1(attention(X, cut))).named("R1");
  const Var N1 = norm_1(R1).named("N1");
  const Var R2 = add(N1, drop_2(feed_forward(N1, &drop_hidden))).named("R2");
  return norm_2(R2).named("N2");
}

void EncoderBlock::training(bool on) { drop_1.training = drop_hidden.training = drop_2.training = on; }

std::vector<Param*> EncoderBlock::parameters() const {
  std::vector<Param*> all;
  for (const Linear* l : {&attention.q, &attention.k, &attention.v, &attention.o, &feed_forward.up, &feed_forward.down}) {
    all.push_back(l->W);
    if (l->b) all.push_back(l->b);
  }
  if (feed_forward.W_gate) all.push_back(feed_forward.W_gate);
  for (const LayerNorm* norm : {&norm_1, &norm_2}) {
    all.push_back(norm->gain);
    all.push_back(norm->bias);
  }
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
