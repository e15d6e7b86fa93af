// A = sparsemax(E), each row on its own     E: R x C    A: R x C
//
//   A_ij  = max(E_ij - τ_i, 0)                  τ_i: the threshold that makes row i sum to 1
//   dE_ij = dA_ij - mean of dA_i over S_i       for j in S_i, the entries above the threshold; 0 for the others
//
// The point of the simplex (no entry negative, sum 1) that is nearest to the row. Far scores get a weight of exactly 0.
// A row that is all -inf gives a row of zeros, and no gradient. Which entries are above is a choice that the data made:
// replay keeps it.
//
// Martins and Astudillo 2016, "From Softmax to Sparsemax: A Sparse Model of Attention and Multi-Label Classification".
#include "engine/choosing.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SparsemaxOp final : Op, Choosing {
  Mat support;  // R x C: 1 for the entries of S_i, else 0
  explicit SparsemaxOp(Mat s) : support(s) {}
  const char* name() const override { return "sparsemax"; }
  Choice choice() const override { return Choice(support); }
  const char* hazard() const override { return "a row of scores holds +inf or nan: there is no threshold"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // entries of the support are found one by one: at least one look at each
    Cost c = per_entry(s, pass, 5, 4);
    if (pass == Pass::forward) c.bytes += bytes_in(support);
    return c;
  }
  void forward(Step& s) override { s.be.sparsemax_rows(s.x[0], s.decide, support, s.y); }
  void backward(Step& s) override {
    Mat dA = s.dy, dE = s.dx[0];
    s.be.weighted_mean_backward(support, dA, dE);
  }
};

Var sparsemax(Var e, Where where) {
  require_same_tape("sparsemax", {{"scores", e}});
  return e.tape->record<SparsemaxOp>(e.shape(), {e}, where, e.tape->scratch(e.shape()));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
