// The feed-forward network of a transformer block: each row on its own goes to a wider layer and back.
#pragma once

#include <string>

#include "layers/dropout.h"
#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

enum class Activation { relu, gelu, gelu_tanh, swiglu };

//   U = X W_1 + b_1           X: n x width     W_1: width x hidden     U, H: n x hidden
//   H = act(U)                relu: Vaswani et al. 2017, section 3.3    gelu: BERT    gelu_tanh: GPT-2
//   Y = H W_2 + b_2           Y: n x width     W_2: hidden x width
//
// swiglu (Shazeer 2020, "GLU Variants Improve Transformer", equation 6) has three matrices and no biases. A gate says
// how much of each hidden number may pass; with 2/3 of the hidden width it has as many weights as the others.
//
//   G = X W_gate    U = X W_up    H = silu(G) ∘ U    Y = H W_down
struct FeedForward {
  Activation activation;
  Param* W_gate;  // nullptr: no gate
  Linear up, down;

  // Parameters W_1, b_1, W_2, b_2, for swiglu W_gate, W_up, W_down, each with the suffix behind it.
  // Bias::yes with swiglu throws InputError; without the last argument the paper decides.
  FeedForward(ParamStore&, const std::string& suffix, int width, int hidden, Activation, Rng&, Bias);
  FeedForward(ParamStore&, const std::string& suffix, int width, int hidden, Activation, Rng&);
  // Lines named U, H, Y, for swiglu also G. `drop` acts on H, as in the encoder layers of most libraries.
  Var operator()(Var X, Dropout* drop = nullptr) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
