// Y = Aᵀ B                                  A: K x R    B: K x C    Y: R x C
//
//   Y_ij = Σ_k A_ki B_kj                      column i of A with column j of B: how dW = Xᵀ dY comes about
//   dA = B dYᵀ      dB = A dY
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MatmulTnOp final : Op {
  const char* name() const override { return "matmul_tn"; }
  const char* hazard() const override { return "a sum of products is too large for the number type, or holds 0 times infinity"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return multiply_adds(s, pass, numbers_in(s.y) * s.x[0].rows); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.matmul(Product::TN, s.x[0], s.x[1], s.y, false); }
  void backward(Step& s) override {
    Mat A = s.x[0], B = s.x[1], dY = s.dy, dA = s.dx[0], dB = s.dx[1];
    if (dA.data) s.be.matmul(Product::NT, B, dY, dA, s.adds[0]);
    if (dB.data) s.be.matmul(Product::NN, A, dY, dB, s.adds[1]);
  }
};

Var matmul_tn(Var a, Var b, Where where) {
  require_same_tape("matmul_tn", {{"left", a}, {"right", b}});
  const Shape A = a.shape(), B = b.shape();
  if (A.rows != B.rows) {
    shape_error("matmul_tn", "the column lengths differ (" + std::to_string(A.rows) + " is not " + std::to_string(B.rows) + ")",
                {{"left", a}, {"right", b}}, A.cols == B.rows ? "did you mean matmul (no transpose)?" : "", where);
  }
  return a.tape->record<MatmulTnOp>(Shape{A.cols, B.cols}, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
