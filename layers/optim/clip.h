// Clipping: when the gradients of all parameters together are too long, they are shortened to a limit.
#pragma once

#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   norm = √(Σ g²)  over every entry of every gradient        norm > limit:  g ← g · limit / norm
//
// Pascanu, Mikolov and Bengio 2013, "On the difficulty of training recurrent neural networks", algorithm 1. One factor
// for all keeps the direction. Gradients within the limit keep their bits. (PyTorch divides by norm + 1e-6 instead.)
//
// Call it after all backward passes of a step and before the optimiser. Returns the norm before. A gradient that is
// NaN or infinite throws NonFiniteError, which names the parameter and the entry, and nothing is changed: one such
// number would make the factor, and with it every weight, NaN.
double clip_by_norm(ParamStore&, double limit);  // throws InputError unless limit > 0

}  // namespace GLASS_PRECISION
}  // namespace glass
