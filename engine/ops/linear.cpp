// Y = X W + b                              X: R x K    W: K x C    b: 1 x C    Y: R x C
//
//   Y_ij = Σ_k X_ik W_kj + b_j
//   dX = dY Wᵀ      dW = Xᵀ dY      db_j = Σ_i dY_ij
//
// matmul and add_row in one: the sums of the product start from b, so Y is written once and read by nobody in between.
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct LinearOp final : Op {
  const char* name() const override { return "linear"; }
  const char* hazard() const override { return "a sum of products is too large for the number type, or holds 0 times infinity"; }
  bool mixes_entries() const override { return true; }
  bool stores(int input) const override { return input < 2; }
  Cost cost(const Step& s, Pass pass) const override {
    const double n = numbers_in(s.y), product = 2 * n * s.x[0].cols;
    if (pass == Pass::forward) return {product + n, usual_bytes(s, pass)};
    return {product * ((s.dx[0].data != nullptr) + (s.dx[1].data != nullptr)) + (s.dx[2].data ? n : 0), usual_bytes(s, pass)};
  }
  void forward(Step& s) override { s.be.matmul_add_row(s.x[0], s.x[1], s.x[2], s.y); }
  void backward(Step& s) override {
    Mat X = s.x[0], W = s.x[1], dY = s.dy, dX = s.dx[0], dW = s.dx[1], db = s.dx[2];
    if (dX.data) s.be.matmul(Product::NT, dY, W, dX, s.adds[0]);
    if (dW.data) s.be.matmul(Product::TN, X, dY, dW, s.adds[1]);
    if (db.data) s.be.add_col_sums(1, dY, db);
  }
};

Var linear(Var x, Var w, Var b, Where where) {
  require_same_tape("linear", {{"X", x}, {"W", w}, {"b", b}});
  const Shape X = x.shape(), W = w.shape(), B = b.shape();
  if (X.cols != W.rows) {
    shape_error("linear", "the inner sizes differ (" + std::to_string(X.cols) + " is not " + std::to_string(W.rows) + ")",
                {{"X", x}, {"W", w}, {"b", b}}, X.cols == W.cols ? "W has one row for each column of X: is it transposed?" : "", where);
  }
  if (B != Shape{1, W.cols}) {
    shape_error("linear", "b must be a row with one number for each column of W", {{"X", x}, {"W", w}, {"b", b}}, "", where);
  }
  return x.tape->record<LinearOp>(Shape{X.rows, W.cols}, {x, w, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
