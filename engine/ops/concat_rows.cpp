// y = matrices below each other             x_k: R_k x C    y: (Σ R_k) x C
//
//   y = [x_0; x_1; ...]       dx_k = its rows of dy
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Mat part(Mat y, Mat x, int at) { return y.block(at, 0, x.rows, y.cols); }

struct ConcatRowsOp final : Op {
  const char* name() const override { return "concat_rows"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    double added = 0;
    for (int k = 0; k < s.n_in; ++k) added += numbers_in(s.dx[k]);
    return {pass == Pass::forward ? 0 : added, usual_bytes(s, pass, false)};
  }
  bool stores(int) const override { return true; }
  void forward(Step& s) override {
    int at = 0;
    for (int k = 0; k < s.n_in; at += s.x[k].rows, ++k) s.be.copy(s.x[k], part(s.y, s.x[k], at));
  }
  void backward(Step& s) override {
    Mat dy = s.dy;
    int at = 0;
    for (int k = 0; k < s.n_in; at += s.x[k].rows, ++k) {
      if (s.dx[k].data) s.give(k, 1, part(dy, s.x[k], at));
    }
  }
};

Var concat_rows(const Var* x, int n, Where where) {
  if (n < 1) throw ShapeError("concat_rows: there is nothing to put together\n  at " + to_text(where));
  require_same_tape("concat_rows", {{"first", x[0]}});
  const Shape first = x[0].shape();
  int total = 0;
  for (int k = 0; k < n; ++k) {
    require_same_tape("concat_rows", {{"first", x[0]}, {"other", x[k]}});
    if (x[k].shape().cols != first.cols) shape_error("concat_rows", "the cols differ", {{"first", x[0]}, {"other", x[k]}}, "", where);
    total += x[k].shape().rows;
  }
  return x[0].tape->record_many<ConcatRowsOp>(Shape{total, first.cols}, x, n, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
