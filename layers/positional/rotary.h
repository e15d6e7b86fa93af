// Rotary positions (RoPE): queries and keys are turned by their position; only the difference is left in a score.
#pragma once

#include "engine/ops.h"
#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Y = X ∘ cos + (X J) ∘ sin          θ_(p, i) = p base^(-2i/C)          X, Y: n x C, C even
//
//   J swaps the two channels of each pair and changes one sign: (x_a, x_b) J = (-x_b, x_a). Which channels are a pair?
//     Pairs::interleaved   (0, 1), (2, 3), ...           Su et al. 2021, "RoFormer"
//     Pairs::half          (0, C/2), (1, C/2 + 1), ...   GPT-NeoX, LLaMA in most libraries
//   The two differ by an order of the columns of W_q and W_k. Weights made for one are wrong with the other.
//
// Lines: "cos", "sin", "X J", "turned". The definition; the op rotary() does it in one line.
Var rotary_steps(Var X, const Rotary& how = {});

//   E = (turned Q) (turned K)ᵀ / √d     A = softmax(E)     Y = A V              V is not turned
//
//   q at position p, k at position s:  (R_p q) · (R_s k) = q · R_(s-p) k        depends on s - p only
//
// Key j stands at how.first + j, query i at how.first + i + m - n.
// Lines: "Q turned", "K turned", "S", "E", "A", "Y".
struct RotaryAttention final : Variant {
  Rotary how;

  explicit RotaryAttention(const Rotary& h = {}) : how(h) {}
  const char* name() const override { return "rotary"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// For texts that are `times` as long as those of the training, without new training: squeeze the angles. All alike, by
// Rotary::spacing = 1 / times (Chen et al. 2023, "Extending Context Window of Large Language Models via Positional
// Interpolation"); or the slow pairs more, by Rotary::base = base · times^(C/(C-2)), which makes the slowest pair exactly
// `times` slower and leaves the fastest ("NTK-aware", Peng et al. 2023, "YaRN", section 3.1).
double ntk_base(double base, double times, int C);

}  // namespace GLASS_PRECISION
}  // namespace glass
