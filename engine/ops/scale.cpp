// y = s x, s a plain number                 x, y: R x C
//
//   y_ij = s x_ij             dx = s dy
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ScaleOp final : Op, Detailed {
  Real factor;
  explicit ScaleOp(Real f) : factor(f) {}
  const char* name() const override { return "scale"; }
  void details(Details& d) const override { d.add("factor", factor); }
  const char* hazard() const override { return "the product is too large for the number type, or it is 0 times infinity"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 2, false); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.scale(s.x[0], factor, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy;
    s.give(0, factor, dy);
  }
};

Var scale(Var x, double s, Where where) {
  require_same_tape("scale", {{"matrix", x}});
  return x.tape->record<ScaleOp>(x.shape(), {x}, where, Real(s));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
