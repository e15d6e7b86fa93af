// y = a - b, entry by entry                 a, b, y: R x C
//
//   y_ij = a_ij - b_ij        da = dy        db = -dy
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SubOp final : Op {
  const char* name() const override { return "sub"; }
  const char* hazard() const override { return "infinity minus infinity is not a number"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.sub(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, da = s.dx[0], db = s.dx[1];
    if (da.data) s.give(0, 1, dy);
    if (db.data) s.give(1, -1, dy);
  }
};

Var sub(Var a, Var b, Where where) {
  const Shape shape = require_same_shape("sub", a, b, where);
  return a.tape->record<SubOp>(shape, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
