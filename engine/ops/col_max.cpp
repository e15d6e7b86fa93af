// y = the largest entry of each column      x: R x C    y: 1 x C
//
//   y_j = max_i x_ij          dx_kj = dy_j for the k of the maximum, 0 elsewhere
//
// A tie goes to the first: the gradients add up to dy. A NaN wins over everything: it is passed on.
// Where the maximum sat is a choice that the data made: replay keeps it.
#include "engine/choosing.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct ColMaxOp final : Op, Choosing {
  Ints where;  // the place of each maximum: row · C + column
  explicit ColMaxOp(Ints w) : where(w) {}
  const char* name() const override { return "col_max"; }
  Choice choice() const override { return Choice(where); }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // back: only the entries that were a maximum
    if (pass == Pass::forward) return per_entry(s, pass, 1, 0);
    return {numbers_in(s.dy), 3 * bytes_in(s.dy) + where.n * double(sizeof(int))};
  }
  void forward(Step& s) override {
    if (s.decide) return s.be.col_max(s.x[0], s.y, where);
    s.be.take_at(s.x[0], where, s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_at(dy, where, dx);
  }
};

Var col_max(Var x, Where where) {
  require_same_tape("col_max", {{"matrix", x}});
  const Shape s = x.shape();
  if (s.rows == 0) shape_error("col_max", "a column of no entries has no maximum", {{"matrix", x}}, "", where);
  return x.tape->record<ColMaxOp>(Shape{1, s.cols}, {x}, where, x.tape->ints(s.cols));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
