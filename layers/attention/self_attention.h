// One head of self-attention: a sequence attends to itself.
#pragma once

#include "layers/attention/attention.h"
#include "layers/linear.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Q = X W_q    K = X W_k    V = X W_v        X: n x C    W_q, W_k: C x d    W_v: C x d_v
//   Y = softmax(Q Kᵀ / √d) V                   Y: n x d_v
//
//   dX = dQ W_qᵀ + dK W_kᵀ + dV W_vᵀ           X is used three times: three gradients add up
struct SelfAttention {
  enum class Form { steps, fused };

  Linear q, k, v;
  Form form = Form::steps;

  // Parameters W_q, W_k, W_v, and with biases b_q, b_k, b_v. (The paper has none, most libraries do.)
  SelfAttention(ParamStore&, int C, int d, int d_v, Rng&, Bias = Bias::no);
  Var operator()(Var X, const Mask* allowed = nullptr) const;  // lines named Q, K, V and those of attention_*
};

}  // namespace GLASS_PRECISION
}  // namespace glass
