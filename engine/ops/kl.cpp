// y = how far q is from p, row by row       p: R x C, a constant    log_q: R x C    y: R x 1
//
//   y_i = Σ_j p_ij (ln p_ij - log_q_ij)       dlog_q_ij = -p_ij dy_i
//
// Kullback and Leibler 1951. Where p is 0 nothing counts, whatever log_q is: 0 · ∞ is left out.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct KlOp final : Op {
  const char* name() const override { return "kl"; }
  const char* hazard() const override { return "q is 0 (its logarithm -inf) where p is not"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 3, 2); }
  void forward(Step& s) override { s.be.kl(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat p = s.x[0], dy = s.dy, dlog_q = s.dx[1];
    s.be.kl_backward(p, dy, dlog_q);
  }
};

Var kl(Var p, Var log_q, Where where) {
  require_same_shape("kl", p, log_q, where);
  require_constant("kl", "target p", p);
  return p.tape->record<KlOp>(Shape{p.shape().rows, 1}, {p, log_q}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
