// y = x, but rows that no query may use are 0    x, y: M x C (a row is a key)    keep: N x M
//
//   y_j = x_j if some keep_ij, else 0         dx_j = dy_j if some keep_ij, else 0
//
// A key that is hidden from every query (padding) is left out by selection: 0 · inf and 0 · NaN never happen.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DropHiddenOp final : Op, Detailed {
  Keep keep;
  explicit DropHiddenOp(Keep k) : keep(k) {}
  const char* name() const override { return "drop_hidden"; }
  void details(Details& d) const override { d.add("keep", keep); }
  Cost cost(const Step& s, Pass pass) const override {
    Cost c = per_entry(s, pass, 0, 1, false);
    c.bytes += double(keep.rows) * keep.cols;
    return c;
  }
  void forward(Step& s) override { s.be.select_seen(s.x[0], keep, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_seen(dy, keep, dx);
  }
};

Var drop_hidden(Var x, Keep keep, Where where) {
  require_same_tape("drop_hidden", {{"matrix", x}});
  require_keep("drop_hidden", x, keep, {keep.rows, x.shape().rows}, where);
  return x.tape->record<DropHiddenOp>(x.shape(), {x}, where, x.tape->keep(keep));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
