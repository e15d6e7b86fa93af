// y = a^b, entry by entry                   a, b, y: R x C
//
//   y_ij = a_ij ^ b_ij        da = dy b a^(b-1)      db = dy y ln a
//
// 0^0 = 1. At a = 0 the exponent gets no gradient (b >= 0), and b = 0 gives the base none: no 0 · ∞.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct PowOp final : Op {
  const char* name() const override { return "pow"; }
  const char* hazard() const override { return "a negative number to a power that is not whole is nan; 0 to a negative power is infinite; large powers overflow"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 2 * kCurve, 2 * kCurve + 3); }
  void forward(Step& s) override { s.be.pow(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat a = s.x[0], b = s.x[1], y = s.y, dy = s.dy, da = s.dx[0], db = s.dx[1];
    if (da.data) s.be.pow_backward_left(a, b, dy, da);
    if (db.data) s.be.pow_backward_right(a, b, y, dy, db);
  }
};

Var pow(Var a, Var b, Where where) {
  const Shape shape = require_same_shape("pow", a, b, where);
  return a.tape->record<PowOp>(shape, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
