// y = elu(x) + 1, entry by entry                x, y: R x C
//
//   y = x + 1 for x > 0, else e^x               always positive; at 0 value and slope agree from both sides
//   dx = dy (x > 0 ? 1 : y)
//
// The feature map of Katharopoulos et al. 2020, "Transformers are RNNs", section 3.2.1.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct EluPlusOneOp final : Op {
  const char* name() const override { return "elu_plus_one"; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 2, 3); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.map(Function::elu_plus_one, s.x[0], s.y); }
  void backward(Step& s) override {
    Mat x = s.x[0], y = s.y, dy = s.dy, dx = s.dx[0];
    s.be.map_backward(Function::elu_plus_one, x, y, dy, dx, s.adds[0]);
  }
};

Var elu_plus_one(Var x, Where where) {
  require_same_tape("elu_plus_one", {{"matrix", x}});
  return x.tape->record<EluPlusOneOp>(x.shape(), {x}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
