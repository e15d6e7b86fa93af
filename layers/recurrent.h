// A recurrent layer: one word after the other, with a memory of those before.
#pragma once

#include <string>

#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   H_t = tanh(X_t W_x + H_(t-1) W_h + b)       X: n x in    W_x: in x width    W_h: width x width    H: n x width
//
// H before the first word is 0. Elman 1990, "Finding Structure in Time". Every step uses the same weights, so their
// gradients add up over the n steps, and what comes back to word 0 has passed n - 1 times through W_h and tanh.
struct Recurrent {
  Linear x;    // W_x + suffix, b_x + suffix
  Param* W_h;  // W_h + suffix

  Recurrent(ParamStore&, const std::string& suffix, int in, int width, Rng&);
  Var operator()(Var X) const;  // one sequence of at least one word
};

}  // namespace GLASS_PRECISION
}  // namespace glass
