// y = x + s, s a 1 x 1 line of the tape     x, y: R x C    s: 1 x 1
//
//   y_ij = x_ij + s           dx = dy        ds = Σ_ij dy_ij
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct AddScalarOp final : Op {
  const char* name() const override { return "add_scalar"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  void forward(Step& s) override { s.be.add_scalar(s.x[0], s.x[1], s.y); }
  void backward(Step& step) override {
    Backend& be = step.be;
    Mat dy = step.dy, dx = step.dx[0], ds = step.dx[1];
    if (dx.data) be.add_scaled(1, dy, dx);
    if (ds.data) be.add_sum(dy, ds);
  }
};

Var add_scalar(Var x, Var s, Where where) {
  require_scalar("add_scalar", x, s, where);
  return x.tape->record<AddScalarOp>(x.shape(), {x, s}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
