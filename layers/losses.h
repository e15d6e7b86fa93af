// Cross-entropy in small steps, and one-hot rows. (The losses in one line are ops: engine/ops.h.)
#pragma once

#include <vector>

#include "engine/ops.h"

namespace glass {
inline namespace GLASS_PRECISION {

// T_ij = 1 where j = ids_i, else 0        ids: n numbers from 0 to classes - 1    T: n x classes
Matrix onehot(const std::vector<int>& ids, int classes);  // throws ShapeError for an id outside

// How surprised is the model by the right class of each row? 0 if it was sure of it, ln K if all K seem alike.
//
//   L = ln softmax(logits)    logits, L: R x K       in one step: ln of a softmax that vanished would be -inf
//   t = Σ_j (L ∘ T)_ij        T: one-hot targets     t: R x 1, the logarithm of each target's probability
//   loss = -mean(t)           1 x 1
//
//   dlogits = (softmax(logits) - T) / R
//
// The definition, with lines named "L", "T", "t", "loss". The op cross_entropy() does the same in one line, and also
// ignored rows, label smoothing, and logits of -inf, which here would be multiplied by a 0 of T.
Var cross_entropy_steps(Var logits, const std::vector<int>& targets);

}  // namespace GLASS_PRECISION
}  // namespace glass
