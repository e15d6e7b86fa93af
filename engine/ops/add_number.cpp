// y = x + s, s a plain number               x, y: R x C
//
//   y_ij = x_ij + s           dx = dy
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct AddNumberOp final : Op, Detailed {
  Real number;
  explicit AddNumberOp(Real n) : number(n) {}
  const char* name() const override { return "add_number"; }
  void details(Details& d) const override { d.add("number", number); }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 1, 1, false); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.add_number(s.x[0], number, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy;
    s.give(0, 1, dy);
  }
};

Var add_number(Var x, double s, Where where) {
  require_same_tape("add_number", {{"matrix", x}});
  return x.tape->record<AddNumberOp>(x.shape(), {x}, where, Real(s));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
