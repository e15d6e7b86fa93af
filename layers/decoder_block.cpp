#include "layers/decoder_block.h"

namespace glass {
inline namespace GLASS_PRECISION {

DecoderBlock::DecoderBlock(ParamStore& store, const std::string& suffix, const BlockSettings& s, Rng& rng, int C_z)
    : place(s.norm),
      self(store, "_self" + suffix, s.C, s.heads, rng, s.bias, s.kv_heads),
      cross(store, "_cross" + suffix, s.C, s.heads, rng, s.bias, s.kv_heads, C_z),
      feed_forward(store, suffix, s.C, s.hidden ? s.hidden : 4 * s.C, s.activation, rng, s.bias),
      norm_1(store, "_1" + suffix, s.C, rng, s.eps),
      norm_2(store, "_2" + suffix, s.C, rng, s.eps),
      norm_3(store, "_3" + suffix, s.C, rng, s.eps),
      drop_1(s.dropout, rng),
      drop_2(s.dropout, rng),
      drop_hidden(s.dropout, rng),
      drop_3(s.dropout, rng) {}

Var DecoderBlock::operator()(Var X, Var Z, const Heads& self_cut, const Heads& cross_cut) {
  if (place == NormPlace::pre) {
    const Var N1 = norm_1(X).named("N1");
    const Var R1 = add(X, drop_1(self(N1, self_cut))).named("R1");
    const Var N2 = norm_2(R1).named("N2");
    const Var R2 = add(R1, drop_2(cross(N2, Z, cross_cut))).named("R2");
    const Var N3 = norm_3(R2).named("N3");
    return add(R2, drop_3(feed_forward(N3, &drop_hidden))).named("R3");
  }
  const Var R1 = add(X, drop_1(self(X, self_cut))).named("R1");
  const Var N1 = norm_1(R1).named("N1");
  const Var R2 = add(N1, drop_2(cross(N1, Z, cross_cut))).named("R2");
  const Var N2 = norm_2(R2).named("N2");
  const Var R3 = add(N2, drop_3(feed_forward(N2, &drop_hidden))).named("R3");
  return norm_3(R3).named("N3");
}

void DecoderBlock::training(bool on) { drop_1.training = drop_2.training = drop_hidden.training = drop_3.training = on; }

}  // namespace GLASS_PRECISION
}  // namespace glass
