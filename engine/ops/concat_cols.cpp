// y = matrices side by side                 x_k: R x C_k    y: R x (Σ C_k)
//
//   y = [x_0 | x_1 | ...]     dx_k = its columns of dy
//
// The heads of attention are put together with it.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Mat part(Mat y, Mat x, int at) { return y.block(0, at, y.rows, x.cols); }

struct ConcatColsOp final : Op {
  const char* name() const override { return "concat_cols"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    double added = 0;
    for (int k = 0; k < s.n_in; ++k) added += numbers_in(s.dx[k]);
    return {pass == Pass::forward ? 0 : added, usual_bytes(s, pass, false)};
  }
  bool stores(int) const override { return true; }
  void forward(Step& s) override {
    int at = 0;
    for (int k = 0; k < s.n_in; at += s.x[k].cols, ++k) s.be.copy(s.x[k], part(s.y, s.x[k], at));
  }
  void backward(Step& s) override {
    Mat dy = s.dy;
    int at = 0;
    for (int k = 0; k < s.n_in; at += s.x[k].cols, ++k) {
      if (s.dx[k].data) s.give(k, 1, part(dy, s.x[k], at));
    }
  }
};

Var concat_cols(const Var* x, int n, Where where) {
  if (n < 1) throw ShapeError("concat_cols: there is nothing to put together\n  at " + to_text(where));
  require_same_tape("concat_cols", {{"first", x[0]}});
  const Shape first = x[0].shape();
  int total = 0;
  for (int k = 0; k < n; ++k) {
    require_same_tape("concat_cols", {{"first", x[0]}, {"other", x[k]}});
    if (x[k].shape().rows != first.rows) shape_error("concat_cols", "the rows differ", {{"first", x[0]}, {"other", x[k]}}, "", where);
    total += x[k].shape().cols;
  }
  return x[0].tape->record_many<ConcatColsOp>(Shape{first.rows, total}, x, n, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
