// y = sigmoid(x), entry by entry                 x, y: R x C
//
//   y = 1 / (1 + e^-x)
//   dx = dy y (1 - y) = dy sigmoid(x) sigmoid(-x)
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SigmoidOp final : Op {
  const char* name() const override { return "sigmoid"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 2, kCurve + 6); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::sigmoid, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::sigmoid, x, y, dy, dx, s.adds[0]);
  }
};

Var sigmoid(Var x, Where where) {
  require_same_tape("sigmoid", {{"matrix", x}});
  return x.tape->record<SigmoidOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
