// y = the length of x as one long vector    x: R x C    y: 1 x 1
//
//   y = √(Σ_ij x_ij²)         dx = dy x / y      0 for x = 0, where the slope has no direction
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct NormOp final : Op {
  Mat factor;  // 1 x 1, scratch: dy / y
  explicit NormOp(Mat f) : factor(f) {}
  const char* name() const override { return "norm"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 2, 2); }
  void forward(Step& s) override { s.be.norm(s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.fill(factor, 0);
    s.be.add_quotient(dy, y, factor);
    s.be.add_mul_scalar(x, factor, dx);
  }
};

Var norm(Var x, Where where) {
  require_same_tape("norm", {{"matrix", x}});
  return x.tape->record<NormOp>(Shape{1, 1}, {x}, where, x.tape->scratch({1, 1}));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
