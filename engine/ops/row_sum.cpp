// y = the sum of each row                   x: R x C    y: R x 1
//
//   y_i = Σ_j x_ij            dx_ij = dy_i
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct RowSumOp final : Op {
  const char* name() const override { return "row_sum"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  void forward(Step& s) override { 
    s.be.fill(s.y, 0);
    s.be.add_row_sums(1, s.x[0], s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_col(dx, dy, dx);
  }
};

Var row_sum(Var x, Where where) {
  require_same_tape("row_sum", {{"matrix", x}});
  return x.tape->record<RowSumOp>(Shape{x.shape().rows, 1}, {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
