// y = -x                                    x, y: R x C
//
//   y_ij = -x_ij              dx = -dy
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct NegOp final : Op {
  const char* name() const override { return "neg"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.scale(s.x[0], -1, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy;
    s.give(0, -1, dy);
  }
};

Var neg(Var x, Where where) {
  require_same_tape("neg", {{"matrix", x}});
  return x.tape->record<NegOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
