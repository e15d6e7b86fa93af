// Y = X with pairs of channels turned by their position        X, Y: n x C
//
//   θ = p base^(-2i/C)                     p = position of the row, i = number of the pair (a, b) of channels
//   y_a = x_a cos θ - x_b sin θ            dx_a =  dy_a cos θ + dy_b sin θ
//   y_b = x_a sin θ + x_b cos θ            dx_b = -dy_a sin θ + dy_b cos θ
//
// With how.batch and how.heads the rows are those of several sequences, and the channels those of several heads: the position
// starts again with each sequence, the pairs with each head.
//
// A turn keeps lengths and angles, so its transpose, which backward needs, is the turn by -θ. Nothing is kept.
// Su et al. 2021, "RoFormer", section 3.2.2. The readable twin is rotary_steps in layers/positional/rotary.h.
#include "engine/details.h"
#include "engine/ops/check.h"

#include <cmath>

namespace glass {
inline namespace GLASS_PRECISION {

struct RotaryOp final : Op, Detailed {
  Rotary how;
  explicit RotaryOp(const Rotary& h) : how(h) {}
  const char* name() const override { return "rotary"; }
  void details(Details& d) const override {
    d.add("half", how.pairs == Rotary::Pairs::half), d.add("first", how.first), d.add("base", how.base), d.add("dims", how.dims);
    d.add("spacing", how.spacing), d.add("batch", how.batch), d.add("heads", how.heads);
  }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return per_entry(s, pass, kCurve + 3, kCurve + 4, false); }
  void forward(Step& s) override { s.be.rotate(s.x[0], how, s.y); }
  void backward(Step& s) override {
    Mat dY = s.dy, dX = s.dx[0];
    s.be.rotate_back(dY, how, dX);
  }
};

Var rotary(Var x, const Rotary& how, Where where) {
  require_same_tape("rotary", {{"rows", x}});
  const Shape shape = x.shape();
  if (how.batch < 1 || how.heads < 1 || shape.rows % how.batch != 0 || shape.cols % how.heads != 0) {
    shape_error("rotary", "the rows cannot be cut into " + std::to_string(how.batch) + " sequences, or the columns into " + std::to_string(how.heads) + " heads",
                {{"rows", x}}, "", where);
  }
  const int width = shape.cols / how.heads, dims = how.turned(width);
  if (dims > width)
    shape_error("rotary", std::to_string(dims) + " channels cannot be turned, there are fewer", {{"rows", x}}, "",
                where);
  if (dims % 2 != 0) {
    shape_error("rotary", "an odd number of channels (" + std::to_string(dims) + ") cannot be cut into pairs",
                {{"rows", x}}, "turn only a part of them: dims = " + std::to_string(dims - 1), where);
  }
  if (!(how.base > 0) || !std::isfinite(how.base) || !std::isfinite(how.spacing)) {
    shape_error(
        "rotary",
        "the base (" + to_text(how.base) + ") must be above 0, and the spacing (" + to_text(how.spacing) + ") finite",
        {{"rows", x}}, "", where);
  }
  return x.tape->record<RotaryOp>(x.shape(), {x}, where, how);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
