// y = log(x), entry by entry                     x, y: R x C
//
//   y = ln x
//   dx = dy / x
//
// Where dy is 0 nothing is sent back, even at x = 0, where the slope is infinite.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct LogOp final : Op {
  const char* name() const override { return "log"; }
  const char* hazard() const override { return "ln of 0 is -inf, and of a negative number nan"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve, 2); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::log, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::log, x, y, dy, dx, s.adds[0]);
  }
};

Var log(Var x, Where where) {
  require_same_tape("log", {{"matrix", x}});
  return x.tape->record<LogOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
