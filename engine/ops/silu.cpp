// y = silu(x), entry by entry                    x, y: R x C
//
//   y = x sigmoid(x)
//   dx = dy σ(x) (1 + x (1 - σ(x)))     σ = sigmoid
//
// Also called swish. Elfwing et al. 2017; the gate of SwiGLU (Shazeer 2020).
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SiluOp final : Op {
  const char* name() const override { return "silu"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 3, kCurve + 8); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::silu, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::silu, x, y, dy, dx, s.adds[0]);
  }
};

Var silu(Var x, Where where) {
  require_same_tape("silu", {{"matrix", x}});
  return x.tape->record<SiluOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
