// y = the largest entry of all              x: R x C    y: 1 x 1
//
//   y = max_ij x_ij           dx = dy at its place, 0 elsewhere
//
// A tie goes to the first: the gradients add up to dy. A NaN wins over everything: it is passed on.
// Where the maximum sat is a choice that the data made: replay keeps it.
#include "engine/choosing.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MaxOp final : Op, Choosing {
  Ints where;  // the place of each maximum: row · C + column
  explicit MaxOp(Ints w) : where(w) {}
  const char* name() const override { return "max"; }
  Choice choice() const override { return Choice(where); }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // back: only the entries that were a maximum
    if (pass == Pass::forward) return per_entry(s, pass, 1, 0);
    return {numbers_in(s.dy), 3 * bytes_in(s.dy) + where.n * double(sizeof(int))};
  }
  void forward(Step& s) override {
    if (s.decide) return s.be.max(s.x[0], s.y, where);
    s.be.take_at(s.x[0], where, s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_at(dy, where, dx);
  }
};

Var max(Var x, Where where) {
  require_same_tape("max", {{"matrix", x}});
  const Shape s = x.shape();
  if (count(s) == 0) shape_error("max", "of no entries there is no maximum", {{"matrix", x}}, "", where);
  return x.tape->record<MaxOp>(Shape{1, 1}, {x}, where, x.tape->ints(1));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
