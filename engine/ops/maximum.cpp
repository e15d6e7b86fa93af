// y = the larger of a and b, entry by entry  a, b, y: R x C
//
//   y_ij = max(a_ij, b_ij)    dy goes to the larger one; at a tie to a
//
// A NaN is passed on. relu(x) is maximum(0, x): with the 0 first, its slope at 0 is 0; that of maximum(x, 0) is 1.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MaximumOp final : Op {
  const char* name() const override { return "maximum"; }
  void forward(Step& s) override { s.be.maximum(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat a = s.x[0], b = s.x[1], dy = s.dy, da = s.dx[0], db = s.dx[1];
    s.be.maximum_backward(a, b, dy, da, db);
  }
};

Var maximum(Var a, Var b, Where where) {
  const Shape shape = require_same_shape("maximum", a, b, where);
  return a.tape->record<MaximumOp>(shape, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
