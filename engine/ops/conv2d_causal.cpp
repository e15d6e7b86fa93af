// Y = X convolved with W: rows look back, columns look to both sides      X, Y: R x C    W: A x B, B odd
//
//   Y_ij = Σ_ab W_ab X_(i-A+1+a, j-(B-1)/2+b)          outside X there are zeros
//
//   dX_(i-A+1+a, j-(B-1)/2+b) += W_ab dY_ij            dW_ab = Σ_ij dY_ij X_(i-A+1+a, j-(B-1)/2+b)
//
// The last row of W meets row i itself, the row above it row i - 1, and so on: no row sees a later one. The middle
// column of W meets column j itself. Golovneva et al. 2025, "Multi-Token Attention", section 3.1, where X holds scores:
// rows are queries, columns are keys. (They number the entries of W from the other end.)
#include <algorithm>
#include <cstdlib>

#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Conv2dCausalOp final : Op {
  const char* name() const override { return "conv2d_causal"; }
  const char* hazard() const override {
    return "a sum of products is too large for the number type, or holds 0 times infinity";
  }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // only where the window is inside
    const int R = s.y.rows, C = s.y.cols, A = s.x[1].rows, B = s.x[1].cols;
    double down = 0, across = 0;
    for (int a = 0; a < A; ++a) down += std::max(0, R - (A - 1 - a));
    for (int b = 0; b < B; ++b) across += std::max(0, C - std::abs(b - (B - 1) / 2));
    return multiply_adds(s, pass, down * across);
  }
  void forward(Step& s) override { s.be.conv2d_causal(s.x[0], s.x[1], s.y); }
  void backward(Step& s) override {
    Mat X = s.x[0], W = s.x[1], dY = s.dy, dX = s.dx[0], dW = s.dx[1];
    if (dX.data) s.be.conv2d_causal_backward_x(dY, W, dX);
    if (dW.data) s.be.conv2d_causal_backward_w(X, dY, dW);
  }
};

Var conv2d_causal(Var X, Var W, Where where) {
  require_same_tape("conv2d_causal", {{"input", X}, {"kernel", W}});
  const Shape w = W.shape();
  if (w.rows == 0 || w.cols % 2 == 0) {
    shape_error("conv2d_causal", "the kernel needs a row, and an odd number of columns, so that one is the middle",
                {{"input", X}, {"kernel", W}}, "", where);
  }
  return X.tape->record<Conv2dCausalOp>(X.shape(), {X, W}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
