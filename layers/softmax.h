// Softmax as a layer (with a temperature), and in five small steps.
#pragma once

#include "engine/ops.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   A = softmax(E / T), each row on its own        E, A: R x C
//
// T < 1 sharpens, T > 1 flattens; T -> 0 is the maximum, T -> infinity the mean (Hinton et al. 2015, section 2).
struct Softmax {
  double temperature = 1;
  Var operator()(Var E) const;  // throws InputError unless the temperature is positive and finite
};

// The definition, one line of the tape for each step:
//
//   m_i  = max_j E_ij            the largest score of the row
//   Z_ij = E_ij - m_i            at most 0: exp cannot overflow
//   P_ij = exp(Z_ij)
//   s_i  = Σ_j P_ij
//   A_ij = P_ij / s_i
//
// The op softmax() does the same in one line, and also rows that are all -inf; here such a row throws InputError.
Var softmax_steps(Var E);

}  // namespace GLASS_PRECISION
}  // namespace glass
