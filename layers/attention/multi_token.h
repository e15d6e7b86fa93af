// Multi-token attention: a weight may look at several queries, several keys and several heads at once.
#pragma once

#include <string>
#include <vector>

#include "engine/params.h"
#include "layers/attention/multi_head.h"

namespace glass {
inline namespace GLASS_PRECISION {

// For each head, with Q, K, V cut as in multi_head. Hidden pairs count 0 for a convolution and -inf for softmax:
//
//   E   = Q Kᵀ / √d                 n x n: as many queries as keys
//   E0  = Mask0(E)
//   C   = conv2d_causal(E0, w)      w: c_q x c_k, one for each head: earlier queries, keys on both sides
//   M_g = Σ_h H_gh C_h              H: within a group of c_h neighbouring heads
//   A   = softmax(MaskInf(M))
//   B   = Mask0(conv(A, w'))        rows do not sum to 1 any more, and entries may be negative
//   P_g = Σ_h H'_gh B_h
//   O   = P V                       n x d_v
//   N   = rms_norm(O, gain)         one gain, 1 x d_v, for all heads
//   Y   = N sigmoid(N gate + bias)  one number for each token and head; or depth scaling, Y = (1 - λ) N
//
// Golovneva et al. 2025, "Multi-Token Attention", sections 3.1 to 3.4. Positions (RoPE) are the caller's: turn Q and K
// before.

// The learned parts, lines of the tape. One that is left out has no tape; without any of them this is plain attention.
struct MultiTokenParts {
  Var scores_kernel = {}, weights_kernel = {};  // w, w': (heads c_q) x c_k, the kernels of the heads below each other
  Var scores_mix = {}, weights_mix = {};        // H, H': heads x c_h, row g: what head g takes from its group
  Var gain = {}, gate = {}, gate_bias = {};     // 1 x d_v, d_v x 1, 1 x 1
  double factor = 1;                            // 1 - λ, applied to N where there is no gate
};

// What decoding keeps beside keys and values: of each head of each sequence the last c_q - 1 rows of E0 and of A.
// Start with an empty one. Then Q holds the new tokens only, K and V hold all. Earlier rows are constants: no gradient
// goes back to them.
struct MultiTokenPast {
  int tokens = 0;
  std::vector<Matrix> scores, weights;
};

// Each sequence and head: (batch n) x (heads d_v). If weights are wanted: P. Throws ShapeError for sizes that do not
// fit. Lines of a head: "S", "E", "E0", "C", "M", "E masked", "A", "B", "P", "O", "N", "Y".
Var multi_token(Var Q, Var K, Var V, const Heads&, const MultiTokenParts&, MultiTokenPast* = nullptr);

// Head g becomes Σ_h H_gh X_h, over the heads of its group. X: one matrix for each head; H: heads x c_h.
std::vector<Var> mix_heads(const std::vector<Var>& X, Var H);

struct MultiTokenSettings {
  enum class Scaling { gate, depth, none };

  int c_q = 6, c_k = 11;  // height and width of the kernels; c_k is odd
  int c_h = 0;            // heads in a group; 0: all of them
  bool scores_kernel = true, weights_kernel = true, scores_mix = true, weights_mix = true;
  Scaling scaling = Scaling::gate;  // none: no norm either
  int layer = 0;                    // for depth scaling, counted from 0
};

double depth_lambda(int layer);  // λ = 0.8 - 0.6 e^(-0.3 layer): deeper layers speak more softly

// The parameters. Kernels and mixes start as the identity: at first, P is exactly the A of plain attention.
struct MultiToken {
  int heads;
  MultiTokenSettings settings;
  // null: left out
  Param *scores_kernel = nullptr, *weights_kernel = nullptr, *scores_mix = nullptr, *weights_mix = nullptr;
  Param *gain = nullptr, *gate = nullptr, *gate_bias = nullptr;

  // Makes w, w', H, H', gain, gate, gate_bias + suffix: those of the settings.
  MultiToken(ParamStore&, const std::string& suffix, int heads, int d_v, Rng&, const MultiTokenSettings& = {});
  MultiTokenParts on(Tape&) const;
  Var operator()(Var Q, Var K, Var V, Heads cut, MultiTokenPast* = nullptr) const;  // cut.heads is the layer's
};

// One head as a variant, its kernels fixed: for comparing ways of attending. A kernel without entries is left out.
struct MultiTokenHead final : Variant {
  Matrix scores_kernel{{0.5, 0, 0}, {0, 1, 0}};  // and half of what the query before found at the key before
  Matrix weights_kernel;
  const char* name() const override { return "multi-token"; }
  Supports supports() const override { return {.lengths = false}; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

extern const MultiTokenHead multi_token_attention;

}  // namespace GLASS_PRECISION
}  // namespace glass
