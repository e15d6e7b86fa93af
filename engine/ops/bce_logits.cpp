// y = binary cross-entropy from logits, entry by entry     x, y: R x C    t: R x C, from 0 to 1, a constant
//
//   y = -t ln σ(x) - (1-t) ln(1 - σ(x)) = t softplus(-x) + (1-t) softplus(x)        σ = sigmoid
//   dx = dy (σ(x) - t)
//
// From logits, so that nothing overflows and no logarithm of 0 is taken.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct BceLogitsOp final : Op {
  const char* name() const override { return "bce_logits"; }
  const char* hazard() const override { return "an infinite logit on the wrong side costs infinitely much"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 2 * kCurve + 6, kCurve + 5); }
  void forward(Step& s) override { s.be.bce_logits(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], t = s.x[1], dy = s.dy, dx = s.dx[0];
    s.be.bce_logits_backward(x, t, dy, dx);
  }
};

Var bce_logits(Var x, Var t, Where where) {
  require_same_shape("bce_logits", x, t, where);
  require_constant("bce_logits", "target", t);
  return x.tape->record<BceLogitsOp>(x.shape(), {x, t}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
