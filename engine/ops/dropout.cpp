// y = x with each entry dropped with chance p   x, y: R x C
//
//   y_ij = kept_ij ? x_ij / (1 - p) : 0       dx_ij = kept_ij ? dy_ij / (1 - p) : 0
//
// Inverted dropout: the mean of y is x, so evaluation needs no factor. Srivastava et al. 2014.
// What is kept follows from the seed, the row and the column: replay, every device and any number of threads agree.
#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DropoutOp final : Op, Detailed {
  double p;
  std::uint64_t seed;
  DropoutOp(double chance, std::uint64_t s) : p(chance), seed(s) {}
  const char* name() const override { return "dropout"; }
  void details(Details& d) const override { d.add("p", p); }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, 2, 2, false); }
  void forward(Step& s) override { s.be.dropout(s.x[0], p, seed, s.y); }
  void backward(Step& s) override {
    Mat dy = s.dy, dx = s.dx[0];
    s.be.dropout_backward(dy, p, seed, dx);
  }
};

Var dropout(Var x, double p, std::uint64_t seed, Where where) {
  require_same_tape("dropout", {{"matrix", x}});
  if (!(p >= 0 && p <= 1)) throw InputError("dropout: the probability must be from 0 to 1, not " + to_text(p));
  return x.tape->record<DropoutOp>(x.shape(), {x}, where, p, seed);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
