// y = x, but not below low or above high    x, y: R x C
//
//   y_ij = min(max(x_ij, low), high)          dx = dy where low <= x <= high, else 0
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ClampOp final : Op, Detailed {
  Real low, high;
  ClampOp(Real l, Real h) : low(l), high(h) {}
  const char* name() const override { return "clamp"; }
  void details(Details& d) const override { d.add("low", low); d.add("high", high); }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 2, 3); }
  void forward(Step& s) override { s.be.clamp(s.x[0], low, high, s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], dy = s.dy, dx = s.dx[0];
    s.be.clamp_backward(x, low, high, dy, dx);
  }
};

Var clamp(Var x, double low, double high, Where where) {
  require_same_tape("clamp", {{"matrix", x}});
  if (!(low <= high)) throw InputError("clamp: the lower bound " + to_text(low) + " must not be above the upper bound " + to_text(high));
  return x.tape->record<ClampOp>(x.shape(), {x}, where, Real(low), Real(high));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
