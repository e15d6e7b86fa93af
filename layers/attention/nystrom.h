// Nyström attention: the n x m weights from the weights of a few landmarks.
#pragma once

#include <string>

#include "engine/params.h"
#include "engine/rng.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   q = Q / d^¼    k = K / d^¼                        so q·k is the usual score
//   q̃, k̃ = means of l consecutive segments            l x d      the landmarks
//   F₁ = softmax(q k̃ᵀ)  n x l       B = softmax(q̃ k̃ᵀ)  l x l       F₃ = softmax(q̃ kᵀ)  l x m
//   Y = F₁ Z (F₃ V) + conv(V)        Z ≈ the pseudo-inverse of B        nothing here is n x m
//
//   Z₀ = Bᵀ / (‖B‖₁ ‖B‖∞)            the largest column sum and row sum; a row of B sums to 1
//   Z ← ¼ Z (13 I − T (15 I − T (7 I − T)))      T = B Z      6 times
//
// Xiong et al. 2021, "Nyströmformer: A Nyström-Based Algorithm for Approximating Self-Attention", section 3. The gradient goes through
// the iterations. They converge fast once ‖I − B Z‖ < 1, but for an ill-conditioned B six are not enough. Weights may be negative.
// The paper adds conv(V), a filter along the sequence, one for each head. Only F₃ sees the padding. Segments mix the future: not causal.
struct NystromAttention final : Variant {
  int landmarks = 64;      // at most the number of queries or keys: then the tokens themselves are the landmarks
  int iterations = 6;
  Param* filter = nullptr;  // taps x heads; null: no conv. It needs as many queries as keys.

  explicit NystromAttention(int l = 64, int steps = 6) : landmarks(l), iterations(steps) {}
  void add_conv(ParamStore&, const std::string& suffix, int taps, int heads, Rng&);  // "filter"; an odd number of taps, 33 in the paper
  const char* name() const override { return "nystrom"; }
  Supports supports() const override { return {.causal = false, .any_mask = false, .lengths = !filter, .weights = false}; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;  // lines "q~", "k~", "F1", "B", "F3", "Z 0" ... "Z 6", "Y"
};

Var segment_means(Var x, int segments);           // R x C -> segments x C; segments differ by one row at most
Var pseudo_inverse(Var B, int iterations);        // lines "Z 0", "Z 1", ...

}  // namespace GLASS_PRECISION
}  // namespace glass
