// Y = X convolved along the rows, each column by a filter of its own     X: T x C    W: K x C    Y: T x C
//
//   Y_tc = Σ_k X_(t+k-left),c W_kc                outside X there are zeros
//   dX_(t+k-left),c += dY_tc W_kc                 dW_kc = Σ_t X_(t+k-left),c dY_tc
//
// K C numbers, where conv1d has K C². left = (K - 1) / 2 is centred, left = K - 1 looks back only.
#include <algorithm>
#include <cstdlib>

#include "engine/details.h"
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct DepthwiseConv1dOp final : Op, Detailed {
  int left;
  explicit DepthwiseConv1dOp(int l) : left(l) {}
  const char* name() const override { return "depthwise_conv1d"; }
  void details(Details& d) const override { d.add("left", left); }
  const char* hazard() const override { return "a sum of products is too large for the number type, or holds 0 times infinity"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override {  // only where the window is inside
    double places = 0;
    for (int k = 0; k < s.x[1].rows; ++k) places += std::max(0, s.x[0].rows - std::abs(k - left));
    return multiply_adds(s, pass, places * s.y.cols);
  }
  void forward(Step& s) override { s.be.depthwise_conv1d(s.x[0], s.x[1], left, s.y); }
  void backward(Step& s) override {
    Mat X = s.x[0], W = s.x[1], dY = s.dy, dX = s.dx[0], dW = s.dx[1];
    if (dX.data) s.be.depthwise_conv1d_backward_x(dY, W, left, dX);
    if (dW.data) s.be.depthwise_conv1d_backward_w(X, dY, left, dW);
  }
};

Var depthwise_conv1d(Var X, Var W, int left, Where where) {
  require_same_tape("depthwise_conv1d", {{"input", X}, {"kernel", W}});
  const Shape x = X.shape(), w = W.shape();
  if (x.cols != w.cols || w.rows == 0) {
    shape_error("depthwise_conv1d", "the kernel must have a column for each column of the input, and a row", {{"input", X}, {"kernel", W}}, "", where);
  }
  if (left < 0 || left >= w.rows) {
    shape_error("depthwise_conv1d", "left = " + std::to_string(left) + " must be from 0 to " + std::to_string(w.rows - 1),
                {{"input", X}, {"kernel", W}}, "", where);
  }
  return X.tape->record<DepthwiseConv1dOp>(x, {X, W}, where, left);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
