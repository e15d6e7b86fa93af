// Top-k attention: each query attends to the k keys that it scores highest, and to no other.
#pragma once

#include "layers/attention/variant.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   E = Q Kᵀ / √d                        every query still meets every key
//   E_top: the k largest of each row     the others become -inf; a key that is masked is never among them
//   A = softmax(E_top)    Y = A V        k weights in each row, renormalised
//
// Gupta et al. 2021, "Memory-efficient Transformers via Top-k Attention"; Zhao et al. 2019, "Explicit Sparse
// Transformer". Ties go to the earlier key. With k as large as the number of keys it is plain attention.
//
// The chosen scores get the gradient of a softmax over k keys, the others exactly 0: nothing tells the model that it
// should have chosen otherwise. A replay keeps the choice.
struct TopK final : Variant {
  int k;
  explicit TopK(int keys) : k(keys) {}  // k < 1 throws InputError when it attends
  const char* name() const override { return "top-k"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;  // lines "S", "E", ("E masked",) "E top", "A", "Y"
};

}  // namespace GLASS_PRECISION
}  // namespace glass
