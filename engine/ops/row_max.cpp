// y = the largest entry of each row         x: R x C    y: R x 1
//
//   y_i = max_j x_ij          dx_ik = dy_i for the k of the maximum, 0 elsewhere
//
// A tie goes to the first: the gradients add up to dy. A NaN wins over everything: it is passed on.
// Where the maximum sat is a choice that the data made: replay keeps it.
#include "engine/choosing.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct RowMaxOp final : Op, Choosing {
  Ints where;  // the place of each maximum: row · C + column
  explicit RowMaxOp(Ints w) : where(w) {}
  const char* name() const override { return "row_max"; }
  Choice choice() const override { return Choice(where); }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // back: only the entries that were a maximum
    if (pass == Pass::forward) return per_entry(s, pass, 1, 0);
    return {numbers_in(s.dy), 3 * bytes_in(s.dy) + where.n * double(sizeof(int))};
  }
  void forward(Step& s) override {
    if (s.decide) return s.be.row_max(s.x[0], s.y, where);
    s.be.take_at(s.x[0], where, s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_at(dy, where, dx);
  }
};

Var row_max(Var x, Where where) {
  require_same_tape("row_max", {{"matrix", x}});
  const Shape s = x.shape();
  if (s.cols == 0) shape_error("row_max", "a row of no entries has no maximum", {{"matrix", x}}, "", where);
  return x.tape->record<RowMaxOp>(Shape{s.rows, 1}, {x}, where, x.tape->ints(s.rows));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
