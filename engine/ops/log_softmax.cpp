// y = ln softmax(x), each row on its own    x, y: R x C
//
//   y_ij  = x_ij - ln Σ_k e^(x_ik)
//   dx_ij = dy_ij - e^(y_ij) Σ_k dy_ik        e^y is the softmax: x itself is not needed
//
// Not log(softmax(x)): a weight that underflows to 0 would have the logarithm -inf, and the gradient 0/0.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct LogSoftmaxOp final : Op {
  const char* name() const override { return "log_softmax"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 4, kCurve + 3); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.log_softmax_rows(s.x[0], s.y); }
  void backward(Step& s) override {
    Mat y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.log_softmax_rows_backward(y, dy, dx, s.adds[0]);
  }
};

Var log_softmax(Var x, Where where) {
  require_same_tape("log_softmax", {{"matrix", x}});
  return x.tape->record<LogSoftmaxOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
