// y = gelu(x), entry by entry                    x, y: R x C
//
//   y = x Φ(x)          Φ(x): the chance that a standard normal number is below x
//   dx = dy (Φ(x) + x φ(x))     φ: its density
//
// Hendrycks and Gimpel 2016, "Gaussian Error Linear Units". The exact form, with erf: BERT uses it.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct GeluOp final : Op {
  const char* name() const override { return "gelu"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 12, 2 * kCurve + 16); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::gelu, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::gelu, x, y, dy, dx, s.adds[0]);
  }
};

Var gelu(Var x, Where where) {
  require_same_tape("gelu", {{"matrix", x}});
  return x.tape->record<GeluOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
