// y = the sum of each column                x: R x C    y: 1 x C
//
//   y_j = Σ_i x_ij            dx_ij = dy_j
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ColSumOp final : Op {
  const char* name() const override { return "col_sum"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  void forward(Step& s) override { 
    s.be.fill(s.y, 0);
    s.be.add_col_sums(1, s.x[0], s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_row(dx, dy, dx);
  }
};

Var col_sum(Var x, Where where) {
  require_same_tape("col_sum", {{"matrix", x}});
  return x.tape->record<ColSumOp>(Shape{1, x.shape().cols}, {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
