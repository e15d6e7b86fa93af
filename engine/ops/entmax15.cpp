// A = entmax(E) with α = 1.5, each row on its own     E: R x C    A: R x C
//
//   A_ij  = max(E_ij / 2 - τ_i, 0)²                 τ_i: the threshold that makes row i sum to 1
//   dE_ij = g_ij (dA_ij - Σ_k g_ik dA_ik / Σ_k g_ik)     g = √A
//
// Halfway from softmax (α = 1) to sparsemax (α = 2): weights of exactly 0, but reached smoothly. For any α,
// A = max((α - 1) E - τ, 0)^(1 / (α - 1)) and g = A^(2 - α). A row that is all -inf gives a row of zeros, and no gradient.
// Which entries are above the threshold is a choice that the data made: replay keeps it.
//
// Peters, Niculae and Martins 2019, "Sparse Sequence-to-Sequence Models".
#include "engine/choosing.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Entmax15Op final : Op, Choosing {
  Mat support;  // R x C: 1 for the entries above the threshold, else 0
  Mat g;        // R x C: √A
  Entmax15Op(Mat s, Mat root) : support(s), g(root) {}
  const char* name() const override { return "entmax15"; }
  Choice choice() const override { return Choice(support); }
  const char* hazard() const override { return "a row of scores holds +inf or nan: there is no threshold"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // entries of the support are found one by one: at least one look at each
    Cost c = per_entry(s, pass, 8, 5);
    if (pass == Pass::forward) c.bytes += bytes_in(support) + bytes_in(g);
    return c;
  }
  void forward(Step& s) override {
    s.be.entmax15_rows(s.x[0], s.decide, support, g);
    s.be.mul(g, g, s.y);
  }
  void backward(Step& s) override {
    Mat dA = s.dy, dE = s.dx[0];
    s.be.weighted_mean_backward(g, dA, dE);
  }
};

Var entmax15(Var e, Where where) {
  require_same_tape("entmax15", {{"scores", e}});
  Tape& tape = *e.tape;
  return tape.record<Entmax15Op>(e.shape(), {e}, where, tape.scratch(e.shape()), tape.scratch(e.shape()));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
