// Keeping the scores in bounds: queries and keys are normalised before they meet, or their scale is learned.
//
//                       scores E                            learned, and where it starts
//   RmsQkNorm           rms(Q) rms(K)ᵀ / √d                 gain_q, gain_k: 1 x d, ones
//   LayerQkNorm         ln(Q) ln(K)ᵀ / √d                   gain_q, bias_q, gain_k, bias_k: 1 x d, ones and zeros
//   L2QkNorm            g Q̂ K̂ᵀ, rows of length 1            g: 1 x 1, log₂(L² - L) for sequences of L tokens
//   CosineAttention     min(e^t, 100) Q̂ K̂ᵀ                  t: 1 x heads, one for each head, ln 10
//   LearnedTemperature  e^t Q Kᵀ                            t: 1 x 1, -ln(d) / 2, which is 1/√d
//
// Then A = softmax(E) and Y = A V, as always. d is the width of one head; gains, g and t of the last serve all heads.
#pragma once

#include <string>

#include "layers/attention/plain.h"
#include "layers/layer_norm.h"
#include "layers/rms_norm.h"

namespace glass {
inline namespace GLASS_PRECISION {

// X̂: each row divided by its length, or by 1e-12 if that is larger: a row of zeros stays zero.
//
//   dx = (dx̂ - x̂ (x̂ · dx̂)) / |x|        the gradient has no part along x: only the direction of a row counts
Var unit_rows(Var X);

// As in Qwen3 and Gemma 3. The scores are at most √d |gain_q ∘ gain_k|∞ in size, whatever Q and K are.
struct RmsQkNorm final : Variant {
  RmsNorm q, k;
  RmsQkNorm(ParamStore&, const std::string& suffix, int d, Rng&, double eps = 1e-6);
  const char* name() const override { return "rms qk-norm"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// Dehghani et al. 2023, "Scaling Vision Transformers to 22 Billion Parameters", section 2.
struct LayerQkNorm final : Variant {
  LayerNorm q, k;
  LayerQkNorm(ParamStore&, const std::string& suffix, int d, Rng&, double eps = 1e-6);
  const char* name() const override { return "layer qk-norm"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// Henry et al. 2020, "Query-Key Normalization for Transformers". `length`: tokens of a long training sequence (the paper
// takes the 97.5th percentile). A cosine is at most 1, so g must grow with the length: the largest weight that one of n
// keys can get is e^(2g) / (e^(2g) + n - 1).
struct L2QkNorm final : Variant {
  Param* g;
  L2QkNorm(ParamStore&, const std::string& suffix, int length, Rng&);  // makes "g" + suffix; length is 2 or more
  const char* name() const override { return "l2 qk-norm"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// Liu et al. 2022, "Swin Transformer V2", section 3.2, without its bias for positions. Above ln 100 the clamp sends
// nothing back to t.
struct CosineAttention final : Variant {
  Param* t;
  CosineAttention(ParamStore&, const std::string& suffix, int heads, Rng&);  // makes "t" + suffix
  const char* name() const override { return "cosine"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// A scale that is learned. It bounds nothing: larger queries still make larger scores.
struct LearnedTemperature final : Variant {
  Param* t;
  LearnedTemperature(ParamStore&, const std::string& suffix, int d, Rng&);  // makes "t" + suffix
  const char* name() const override { return "learned temperature"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
