// y = abs(x), entry by entry                     x, y: R x C
//
//   y = |x|
//   dx = dy sign(x)
//
// sign(0) = 0: at the kink any slope from -1 to 1 would do.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct AbsOp final : Op {
  const char* name() const override { return "abs"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 3); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::abs, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::abs, x, y, dy, dx, s.adds[0]);
  }
};

Var abs(Var x, Where where) {
  require_same_tape("abs", {{"matrix", x}});
  return x.tape->record<AbsOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
