// y = a where the mask keeps, else b        a, b, y, keep: R x C    (NumPy calls it where)
//
//   y_ij = keep_ij ? a_ij : b_ij              da = keep ? dy : 0      db = keep ? 0 : dy
//
// The side that is not taken may overflow or divide by zero: it is never multiplied by anything.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct SelectOp final : Op, Detailed {
  Keep keep;
  explicit SelectOp(Keep k) : keep(k) {}
  const char* name() const override { return "select"; }
  void details(Details& d) const override { d.add("keep", keep); }
  Cost cost(const Step& s, Pass pass) const override {
    Cost c = per_entry(s, pass, 1, 1, false);
    c.bytes += double(keep.rows) * keep.cols;
    return c;
  }
  void forward(Step& s) override { s.be.choose(s.x[0], s.x[1], keep, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, da = s.dx[0], db = s.dx[1];
    if (da.data) s.be.add_selected(dy, keep, da);
    if (db.data) s.be.add_unselected(dy, keep, db);
  }
};

Var select(Keep keep, Var a, Var b, Where where) {
  require_same_shape("select", a, b, where);
  require_keep("select", a, keep, a.shape(), where);
  return a.tape->record<SelectOp>(a.shape(), {a, b}, where, a.tape->keep(keep));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
