// A linear layer: Y = X W + b.
#pragma once

#include <string>

#include "engine/ops.h"
#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

enum class Bias { no, yes };

//   Y = X W + b           X: n x in    W: in x out    b: 1 x out    Y: n x out
//
//   dW = Xᵀ dY            dX = dY Wᵀ   db = column sums of dY
//
// W starts Xavier uniform unless told otherwise (Glorot and Bengio 2010), b at zero. (PyTorch's nn.Linear stores W transposed,
// out x in, and starts both uniform in ±1/sqrt(in).)
struct Linear {
  Param* W;
  Param* b;  // nullptr: no bias
  bool fused = false;  // with a bias: one line of the tape, linear(X, W, b), instead of matmul and add_row

  // Makes the parameters "W" + suffix and "b" + suffix: Linear(store, "_q", 4, 3, rng) makes W_q and b_q.
  Linear(ParamStore&, const std::string& suffix, int in, int out, Rng&, Bias = Bias::yes, Start = Init::xavier);
  Var operator()(Var X) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
