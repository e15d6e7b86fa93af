// Dropout as a layer: in training a part of the entries, chosen by chance, is set to 0.
#pragma once

#include "engine/ops.h"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   training:     y_ij = kept_ij ? x_ij / (1 - p) : 0      each entry is kept with chance 1 - p
//   evaluation:   y = x, the same line of the tape
//
// Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting". Dividing by 1 - p keeps
// the mean of y at x. Every call chooses anew; a replay of the tape keeps its choices.
struct Dropout {
  double p;
  bool training = true;
  Rng rng;

  Dropout(double p, Rng& seeds);  // throws InputError unless 0 <= p <= 1; the generator starts at a number from `seeds`
  Var operator()(Var x);
};

}  // namespace GLASS_PRECISION
}  // namespace glass
