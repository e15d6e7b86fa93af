// Attention as a variant, in steps and in one line, and the parts that other variants are made of.
#pragma once

#include "layers/attention/attention.h"
#include "layers/attention/variant.h"
#include "layers/dropout.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Plain final : Variant {  // attention_steps
  const char* name() const override { return "plain"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

struct Fused final : Variant {  // attention_fused
  const char* name() const override { return "fused"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// attention_steps with dropout on the weights. In training the rows of A do not sum to 1 any more, only their mean does.
struct Dropped final : Variant {
  Dropout* dropout;  // its `training` decides; in evaluation this is plain attention
  explicit Dropped(Dropout& d) : dropout(&d) {}
  const char* name() const override { return "dropped"; }
  void generators(std::vector<Rng*>& all) const override { all.push_back(&dropout->rng); }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

extern const Plain plain_attention;
extern const Fused fused_attention;

// For variants that score or weigh in another way. Hide first, then score, then mix:
//
//   K = hide_keys(K, allowed), V = hide_keys(V, allowed)     rows that no query may use become 0, whatever they held
//   E = scaled_scores(Q, K, 1/√d) or another n x m matrix    lines "S" and "E"
//   Y = mix(E, V, call)                                      lines "E masked" (hidden pairs score -inf), "A", "Y"
Var hide_keys(Var K, const Mask* allowed);
Var scaled_scores(Var Q, Var K, double scale);
Var hide_pairs(Var E, const Mask* allowed);
Var mix(Var E, Var V, const Call&);       // hide_pairs, softmax, and the weights if they are wanted
Var mix_by(Var A, Var V, const Call&);    // from weights A that the variant made itself: "A", "Y"
double default_scale(Var Q);              // 1/√d

}  // namespace GLASS_PRECISION
}  // namespace glass
