// Linear attention: another kernel in the place of the softmax, one that can be regrouped.
#pragma once

#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   a = φ(Q)    b = φ(K)      φ(x) = elu(x) + 1 > 0, entry by entry      a: n x D    b: m x D    here D = d, no 1/√d
//
//   A_ij = a_i·b_j / (Σ_l a_i·b_l + ε)        Y = A V                    quadratic: the definition, n x m weights
//
//   Y_i = a_i S / (a_i·z + ε)                 S = Σ_j b_j v_jᵀ  D x d_v    z = Σ_j b_j  1 x D        regrouped: no n x m matrix
//   causal: S_t = S_(t-1) + b_t v_tᵀ          z_t = z_(t-1) + b_t        a recurrent network whose state is S and z
//
// Katharopoulos et al. 2020, "Transformers are RNNs: Fast Autoregressive Transformers with Linear Attention", section 3.
// It is another attention, not an approximation of softmax. A padded key counts 0: its b is 0, not φ(0) = 1.
enum class LinearForm { quadratic, sums };

struct LinearAttention final : Variant {
  LinearForm form = LinearForm::sums;
  double eps = 1e-6;

  explicit LinearAttention(LinearForm f = LinearForm::sums, double e = 1e-6) : form(f), eps(e) {}
  const char* name() const override { return "linear"; }
  Supports supports() const override { return supports_of(form); }
  static Supports supports_of(LinearForm);  // sums: masks only causal and padding, and there is no A

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// From any positive features. Lines of the quadratic form: "W" = a bᵀ, "den", "A", "Y"; of the sums: "S", "z" or the causal "sums",
// "den", "Y".
Var attend_by_features(LinearForm, Var a, Var b, Var V, double eps, const Call&);

// Y = num / (den + ε) row by row. A query that sees nothing has num = den = 0; its row is 0 even for ε = 0.
Var normalise(Var num, Var den, double eps, const Mask* allowed);

// Decoding: the state after any number of keys has the same size. Each call takes in one key and its value, and answers one query.
struct LinearState {
  Var S, z;  // D x d_v, 1 x D
  LinearState(Tape&, int D, int d_v);
  Var operator()(Var q, Var k, Var v, double eps = 1e-6);  // rows 1 x d, 1 x d, 1 x d_v -> 1 x d_v
};

}  // namespace GLASS_PRECISION
}  // namespace glass
