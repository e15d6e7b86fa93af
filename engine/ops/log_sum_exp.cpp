// y = ln Σ e^x of each row                  x: R x C    y: R x 1
//
//   y_i = m_i + ln Σ_j exp(x_ij - m_i)        m_i = max of row i
//   dx_ij = exp(x_ij - y_i) dy_i              the softmax of the row, times dy
//
// A row that is empty or all -inf gives -inf, and no gradient. (Restricted by a mask: hide with mask(x, keep, -inf) first.)
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct LogSumExpOp final : Op {
  const char* name() const override { return "log_sum_exp"; }
  bool mixes_entries() const override { return true; }
  bool means_minus_inf() const override { return true; }  // only a row of nothing, or of nothing but -inf, gives it
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 3, kCurve + 3); }
  void forward(Step& s) override { s.be.log_sum_exp(s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], dy = s.dy, dx = s.dx[0];
    s.be.log_sum_exp_backward(x, dy, dx);
  }
};

Var log_sum_exp(Var x, Where where) {
  require_same_tape("log_sum_exp", {{"matrix", x}});
  return x.tape->record<LogSumExpOp>(Shape{x.shape().rows, 1}, {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
