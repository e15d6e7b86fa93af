// Y = X convolved with W along the rows     X: T x A    W: K A x C    Y: T x C
//
//   Y_t = Σ_k X_(t+k-left) W_k                W_k: rows k A to (k+1) A of W, A x C      outside X there are zeros
//   dX_(t+k-left) += dY_t W_kᵀ                dW_k = Σ_t X_(t+k-left)ᵀ dY_t
//
// left = K - 1 looks back only (causal); left = (K - 1) / 2 is centred.
#include <algorithm>
#include <cstdlib>

#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Conv1dOp final : Op, Detailed {
  int left;
  explicit Conv1dOp(int l) : left(l) {}
  const char* name() const override { return "conv1d"; }
  void details(Details& d) const override { d.add("left", left); }
  const char* hazard() const override { return "a sum of products is too large for the number type, or holds 0 times infinity"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // only where the window is inside
    const int T = s.x[0].rows, K = s.x[1].rows / s.x[0].cols;
    double places = 0;
    for (int k = 0; k < K; ++k) places += std::max(0, T - std::abs(k - left));
    return multiply_adds(s, pass, places * s.x[0].cols * s.y.cols);
  }
  void forward(Step& s) override { s.be.conv1d(s.x[0], s.x[1], left, s.y); }
  void backward(Step& s) override {
    Mat X = s.x[0], W = s.x[1], dY = s.dy, dX = s.dx[0], dW = s.dx[1];
    if (dX.data) s.be.conv1d_backward_x(dY, W, left, dX);
    if (dW.data) s.be.conv1d_backward_w(X, dY, left, dW);
  }
};

Var conv1d(Var X, Var W, int left, Where where) {
  require_same_tape("conv1d", {{"input", X}, {"kernel", W}});
  const Shape x = X.shape(), w = W.shape();
  if (x.cols == 0 || w.rows % x.cols != 0 || w.rows == 0) {
    shape_error("conv1d", "the rows of the kernel must be a multiple of the columns of the input", {{"input", X}, {"kernel", W}}, "", where);
  }
  if (left < 0 || left >= w.rows / x.cols) {
    shape_error("conv1d", "left = " + std::to_string(left) + " must be from 0 to " + std::to_string(w.rows / x.cols - 1),
                {{"input", X}, {"kernel", W}}, "", where);
  }
  return X.tape->record<Conv1dOp>(Shape{x.rows, w.cols}, {X, W}, where, left);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
