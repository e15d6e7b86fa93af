// y = a ∘ b, entry by entry                 a, b, y: R x C
//
//   y_ij = a_ij b_ij          da = dy ∘ b    db = dy ∘ a
//
// a and b may be the same line: x ∘ x gets both halves, dx = 2 x ∘ dy.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MulOp final : Op {
  const char* name() const override { return "mul"; }
  const char* hazard() const override { return "the product is too large for the number type, or it is 0 times infinity"; }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.mul(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat a = s.x[0], b = s.x[1], dy = s.dy, da = s.dx[0], db = s.dx[1];
    if (da.data) s.adds[0] ? s.be.add_product(dy, b, da) : s.be.mul(dy, b, da);
    if (db.data) s.adds[1] ? s.be.add_product(dy, a, db) : s.be.mul(dy, a, db);
  }
};

Var mul(Var a, Var b, Where where) {
  const Shape shape = require_same_shape("mul", a, b, where);
  return a.tape->record<MulOp>(shape, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
