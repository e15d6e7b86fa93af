// AdamW: each weight takes steps of about the same size, whatever the scale of its gradient, and shrinks a little.
#pragma once

#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   w ← w (1 - rate · decay)                          first, and only if w decays
//   m ← β₁ m + (1 - β₁) g                             running mean of g, starts at 0
//   v ← β₂ v + (1 - β₂) g²                            running mean of g², starts at 0
//   w ← w - rate · m̂ / (√v̂ + eps)                     m̂ = m / (1 - β₁ᵗ)    v̂ = v / (1 - β₂ᵗ)
//
// t counts the updates from 1; m̂ and v̂ undo the start at 0, so the first step is about rate · sign(g). Adam: Kingma
// and Ba 2015, algorithm 1, where eps is added to the corrected root; decay 0 is Adam. Loshchilov and Hutter 2019,
// "Decoupled Weight Decay Regularization": the decay is not added to g, where √v̂ would divide most of it away.
//
// A parameter of more than one row decays: weights and tables do; biases and gains, which are 1 x C, do not.
// A parameter that no gradient reached has g = 0: it decays and does not move otherwise. Keep what must not change in
// a store of its own.
struct AdamW {
  ParamStore& store;
  double rate, decay;  // the rate may be set before each step
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
  long t = 0;    // updates so far
  Moments m, v;  // one for each parameter, in the order of the store

  AdamW(ParamStore&, double rate, double decay = 0.01);  // takes every parameter that the store has now
  void step();  // reads the gradients, changes the values; call store.zero_grad() before the next backward()
};

bool decays(const Param&);

}  // namespace GLASS_PRECISION
}  // namespace glass
