// A = softmax(E), each row on its own       E: R x C    A: R x C
//
//   A_ij  = exp(E_ij - m_i) / Σ_k exp(E_ik - m_i)    m_i = max of row i (changes nothing, avoids overflow)
//   dE_ij = A_ij (dA_ij - Σ_k A_ik dA_ik)            E itself is not needed
//
// A row that is all -inf (a query that may see no key) gives a row of zeros, and no gradient.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SoftmaxOp final : Op {
  const char* name() const override { return "softmax"; }
  const char* hazard() const override { return "a row of scores holds +inf or nan: infinity minus infinity is not a number"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 4, 4); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.softmax_rows(s.x[0], s.y); }
  void backward(Step& s) override {
    Mat A = s.y, dA = s.dy, dE = s.dx[0];
    s.be.softmax_rows_backward(A, dA, dE, s.adds[0]);
  }
};

Var softmax(Var e, Where where) {
  require_same_tape("softmax", {{"scores", e}});
  return e.tape->record<SoftmaxOp>(e.shape(), {e}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
