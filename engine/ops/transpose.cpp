// y = xᵀ                                    x: R x C    y: C x R
//
//   y_ij = x_ji               dx = dyᵀ
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct TransposeOp final : Op {
  const char* name() const override { return "transpose"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 0, 1, false); }
  void forward(Step& s) override { s.be.transpose(s.x[0], s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_transposed(dy, dx);
  }
};

Var transpose(Var x, Where where) {
  require_same_tape("transpose", {{"matrix", x}});
  return x.tape->record<TransposeOp>(Shape{x.shape().cols, x.shape().rows}, {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
