// RMS normalisation: every row gets root-mean-square 1, then a learned gain for each column.
#pragma once

#include <string>

#include "engine/ops.h"
#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   y = x̂ ∘ gain              x̂ = x / ρ              x, y: R x C    gain: 1 x C
//
//   ρ = √(mean of x² + eps)
//
// Zhang and Sennrich 2019, "Root Mean Square Layer Normalization": layer norm without the mean and without a bias.
// A row may be scaled without any change to x̂ (up to eps), so the gradient of x is orthogonal to x.
struct RmsNorm {
  Param* gain;
  double eps;

  RmsNorm(ParamStore&, const std::string& suffix, int width, Rng&, double eps = 1e-5);  // makes "gain" + suffix, ones
  Var operator()(Var x) const;
};

// The definition, one line of the tape for each step: "mean square", "rms", "xhat", "y".
// The op rms_norm() does the same in one line, and all of it in double.
Var rms_norm_steps(Var x, Var gain, double eps = 1e-5);

}  // namespace GLASS_PRECISION
}  // namespace glass
