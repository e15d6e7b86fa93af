// y = gelu_tanh(x), entry by entry               x, y: R x C
//
//   y = x/2 (1 + tanh u)        u = √(2/π) (x + 0.044715 x³)
//   dx = dy ((1 + tanh u)/2 + x/2 (1 - tanh² u) u')
//
// Hendrycks and Gimpel 2016, section 2: an approximation of gelu, off by up to 5e-4. GPT-2 uses it.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct GeluTanhOp final : Op {
  const char* name() const override { return "gelu_tanh"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 12, kCurve + 23); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::gelu_tanh, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::gelu_tanh, x, y, dy, dx, s.adds[0]);
  }
};

Var gelu_tanh(Var x, Where where) {
  require_same_tape("gelu_tanh", {{"matrix", x}});
  return x.tape->record<GeluTanhOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
