// A convolution over time as a layer: each word sees its neighbours, through the same weights everywhere.
#pragma once

#include <string>

#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Y_t = b + Σ_k X_(t + k - left) W_k       X: n x in    W: (taps in) x out, W_k its k-th block of rows    Y: n x out
//
// Rows outside count as 0. left = taps / 2: centred, for encoders. left = taps - 1: causal, nothing comes from later.
struct Conv {
  Param *W, *b;  // b: nullptr without bias
  int taps, left;

  // Parameters "W" + suffix and "b" + suffix. Throws InputError unless 0 <= left < taps.
  Conv(ParamStore&, const std::string& suffix, int in, int out, int taps, int left, Rng&, Bias = Bias::yes);
  Var operator()(Var X) const;  // one sequence
};

}  // namespace GLASS_PRECISION
}  // namespace glass
