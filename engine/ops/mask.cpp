// y = x where the mask keeps, else `other`  x, y, keep: R x C
//
//   y_ij = keep_ij ? x_ij : other             dx_ij = keep_ij ? dy_ij : 0
//
// It selects. Multiplying by 0 or adding a large negative number would let a NaN or an overflow through.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MaskOp final : Op, Detailed {
  Keep keep;
  Real other;
  MaskOp(Keep k, Real o) : keep(k), other(o) {}
  const char* name() const override { return "mask"; }
  void details(Details& d) const override { d.add("keep", keep); d.add("other", other); }
  bool means_minus_inf() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {
    Cost c = per_entry(s, pass, 1, 1, false);
    c.bytes += double(keep.rows) * keep.cols;
    return c;
  }
  void forward(Step& s) override { s.be.select(s.x[0], keep, other, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.add_selected(dy, keep, dx);
  }
};

Var mask(Var x, Keep keep, double other, Where where) {
  require_same_tape("mask", {{"matrix", x}});
  require_keep("mask", x, keep, x.shape(), where);
  return x.tape->record<MaskOp>(x.shape(), {x}, where, x.tape->keep(keep), Real(other));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
