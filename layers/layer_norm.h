// Layer normalisation: every row gets mean 0 and deviation 1, then a learned gain and bias for each column.
#pragma once

#include <string>

#include "engine/ops.h"
#include "engine/params.h"
#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   y = x̂ ∘ gain + bias       x̂ = (x - μ) / σ        x, y: R x C    gain, bias: 1 x C
//
//   μ = mean of the row       σ = √(mean of (x - μ)² + eps)
//
// Ba, Kiros and Hinton 2016, "Layer Normalization". A row may be shifted and scaled as a whole without any change to
// x̂ (up to eps), so the gradient of x has no part along 1 and none along x̂. The variance divides by C, not C - 1, and
// eps stands inside the root. PyTorch's eps is 1e-5, BERT's 1e-12.
struct LayerNorm {
  Param *gain, *bias;  // bias: nullptr for none
  double eps;

  // Makes the parameters "gain" + suffix, which starts at one, and "bias" + suffix, which starts at zero.
  LayerNorm(ParamStore&, const std::string& suffix, int width, Rng&, double eps = 1e-5, Bias = Bias::yes);
  Var operator()(Var x) const;
};

// The definition, one line of the tape for each step: "mean", "centred", "variance", "sigma", "xhat", "y".
// The op layer_norm() does the same in one line, and all of it in double.
Var layer_norm_steps(Var x, Var gain, Var bias, double eps = 1e-5);

}  // namespace GLASS_PRECISION
}  // namespace glass
