// Stochastic gradient descent: a step against the gradient, with a memory of earlier steps if wanted.
#pragma once

#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   v ← momentum · v + g                v starts at 0, so the first v is g
//   w ← w - rate · v                    nesterov: w ← w - rate · (g + momentum · v)
//
// This is PyTorch's form. In the other one, v ← momentum · v - rate · g and w ← w + v, a change of the rate acts on
// later gradients only. Momentum: Polyak 1964; Nesterov's: Sutskever et al. 2013, section 2.
struct Sgd {
  ParamStore& store;
  double rate, momentum;  // the rate may be set before each step
  bool nesterov;
  Moments v;  // one for each parameter, in the order of the store

  // Takes every parameter that the store has now. Throws InputError for a momentum outside [0, 1).
  explicit Sgd(ParamStore&, double rate, double momentum = 0, bool nesterov = false);
  void step();  // reads the gradients, changes the values; call store.zero_grad() before the next backward()
};

}  // namespace GLASS_PRECISION
}  // namespace glass
