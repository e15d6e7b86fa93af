// y = a / b, entry by entry                 a, b, y: R x C
//
//   y_ij = a_ij / b_ij        da = dy / b    db = -dy ∘ y / b
//
// Where dy is 0 nothing is sent back, even at b = 0, where the slope is infinite.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DivOp final : Op {
  const char* name() const override { return "div"; }
  const char* hazard() const override { return "a division by zero"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 3); }
  void forward(Step& s) override { s.be.div(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat b = s.x[1], y = s.y, dy = s.dy, da = s.dx[0], db = s.dx[1];
    if (da.data) s.be.div_backward_left(dy, b, da);
    if (db.data) s.be.div_backward_right(dy, y, b, db);
  }
};

Var div(Var a, Var b, Where where) {
  const Shape shape = require_same_shape("div", a, b, where);
  return a.tape->record<DivOp>(shape, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
