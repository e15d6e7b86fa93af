// y = the sum of all entries                x: R x C    y: 1 x 1
//
//   y = Σ_ij x_ij             dx_ij = dy     every entry counts once, so every entry gets dy
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SumOp final : Op {
  const char* name() const override { return "sum"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  void forward(Step& s) override { s.be.sum(s.x[0], 1, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_scalar(dx, dy, dx);
  }
};

Var sum(Var x, Where where) {
  require_same_tape("sum", {{"matrix", x}});
  return x.tape->record<SumOp>(Shape{1, 1}, {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
