// y = sin(x), entry by entry                     x, y: R x C
//
//   y = sin x
//   dx = dy cos x
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SinOp final : Op {
  const char* name() const override { return "sin"; }
  const char* hazard() const override { return "the sine of an infinite number is nan"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve, kCurve + 2); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::sin, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::sin, x, y, dy, dx, s.adds[0]);
  }
};

Var sin(Var x, Where where) {
  require_same_tape("sin", {{"matrix", x}});
  return x.tape->record<SinOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
