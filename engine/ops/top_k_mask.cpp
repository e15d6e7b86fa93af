// y = x where it is among the k largest of its row, else `other`      x, y: R x C
//
//   y_ij = chosen_ij ? x_ij : other           dx_ij = chosen_ij ? dy_ij : 0
//
// An entry of -inf (a hidden pair) is never chosen: if fewer than k are left, they are all chosen. Ties go to the
// first. A NaN counts as the largest: it is passed on. What was chosen is a decision of the data: replay keeps it, and
// no gradient says how to choose better.
#include <vector>

#include "engine/choosing.h"
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct TopKMaskOp final : Op, Detailed, Choosing {
  int k;
  Real other;
  Keep chosen;
  TopKMaskOp(int largest, Real o, Keep c) : k(largest), other(o), chosen(c) {}
  const char* name() const override { return "top_k_mask"; }
  Choice choice() const override { return Choice(chosen); }
  void details(Details& d) const override { d.add("k", k); d.add("other", other); d.add("chosen", chosen); }
  bool means_minus_inf() const override { return true; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    Cost c = per_entry(s, pass, 2, 1, false);
    c.bytes += double(chosen.rows) * chosen.cols;
    return c;
  }
  void forward(Step& s) override {
    if (s.decide) s.be.top_k(s.x[0], k, chosen);
    s.be.select(s.x[0], chosen, other, s.y);
  }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_selected(dy, chosen, dx);
  }
};

Var top_k_mask(Var x, int k, double other, Where where) {
  require_same_tape("top_k_mask", {{"matrix", x}});
  if (k < 1)
    throw InputError("top_k_mask: k, the number of entries to keep in each row, must be 1 or more, not " +
                     std::to_string(k));
  const Shape s = x.shape();
  const std::vector<unsigned char> none(std::size_t(count(s)));
  const Keep chosen = x.tape->keep({const_cast<unsigned char*>(none.data()), s.rows, s.cols});
  return x.tape->record<TopKMaskOp>(s, {x}, where, k, Real(other), chosen);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
