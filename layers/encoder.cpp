#include "layers/encoder.h"

#include <algorithm>

namespace glass {
inline namespace GLASS_PRECISION {

Encoder::Encoder(ParamStore& store, const std::string& suffix, int layers, const BlockSettings& s, Rng& rng) {
  for (int l = 0; l < layers; ++l) blocks.emplace_back(store, suffix + "." + std::to_string(l), s, rng);
  if (s.norm == NormPlace::pre) last.emplace_back(store, suffix, s.C, rng, s.eps);
}

static Var run_blocks(EncoderBlock* first, int n, int number, Var X, const Heads& cut) {
  for (int l = 0; l < n; ++l) {
    const Scope scope(*X.tape, ("layer " + std::to_string(number + l)).c_str());
    X = first[l](X, cut);
  }
  return X;
}

Var Encoder::operator()(Var X, const Heads& cut) {
  const int layers = int(blocks.size()), k = recompute_every;
  if (k <= 0) {
    X = run_blocks(blocks.data(), layers, 0, X, cut);
  } else {
    if (cut.weights) throw InputError("encoder: weights are not kept while blocks are recomputed");
    segments_.resize(std::size_t((layers + k - 1) / k));
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      EncoderSegment& segment = segments_[s];
      segment.number = int(s) * k;
      segment.first = &blocks[std::size_t(segment.number)];
      segment.n = std::min(k, layers - segment.number);
      segment.cut = cut;
      X = recompute(segment, &X, 1).named("segment");
    }
  }
  return last.empty() ? X : last[0](X).named("N");
}

void Encoder::training(bool on) {
  for (EncoderBlock& block : blocks) block.training(on);
}

Var EncoderSegment::run(Tape&, const Var* in) { return run_blocks(first, n, number, in[0], cut); }

void EncoderSegment::parameters(std::vector<Param*>& all) const {
  for (int l = 0; l < n; ++l)
    for (Param* p : first[l].parameters()) all.push_back(p);
}

void EncoderSegment::generators(std::vector<Rng*>& all) {
  for (int l = 0; l < n; ++l) {
    first[l].attention.variant->generators(all);
    for (Dropout* drop : {&first[l].drop_1, &first[l].drop_hidden, &first[l].drop_2}) all.push_back(&drop->rng);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
