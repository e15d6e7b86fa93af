// y = relu(x), entry by entry                    x, y: R x C
//
//   y = max(x, 0)
//   dx = dy where x > 0, else 0
//
// The slope at 0 is 0. A NaN is passed on: a relu that turned it into 0 would hide a diverged run.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ReluOp final : Op {
  const char* name() const override { return "relu"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 2); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::relu, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::relu, x, y, dy, dx, s.adds[0]);
  }
};

Var relu(Var x, Where where) {
  require_same_tape("relu", {{"matrix", x}});
  return x.tape->record<ReluOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
