// Scaled dot-product attention, twice, with one signature. The steps are the definition.
#pragma once

#include "engine/ops.h"
#include "layers/attention/mask.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   E = Q Kᵀ / √d        Q: n x d    K: m x d        every query meets every key
//   A = softmax(E)       n x m                       each row: how much each key counts
//   Y = A V              V: m x d_v  Y: n x d_v      mix the values
//
// Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1. With a mask, hidden pairs score -inf, and a key
// that is hidden from every query is left out altogether. A query that sees no key gives a row of zeros and sends
// nothing back.

// Lines on the tape: "S" = Q Kᵀ, "E", (with a mask "E masked"), "A", "Y".
Var attention_steps(Var Q, Var K, Var V, const Mask* allowed = nullptr);

// One line, "Y". weights_of(Y) shows the A that it keeps.
Var attention_fused(Var Q, Var K, Var V, const Mask* allowed = nullptr);

}  // namespace GLASS_PRECISION
}  // namespace glass
