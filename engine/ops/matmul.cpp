// Y = A B                                   A: R x K    B: K x C    Y: R x C
//
//   Y_ij = Σ_k A_ik B_kj
//   dA = dY Bᵀ      dB = Aᵀ dY                the shapes leave no other choice
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MatmulOp final : Op {
  const char* name() const override { return "matmul"; }
  const char* hazard() const override { return "a sum of products is too large for the number type, or holds 0 times infinity"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return multiply_adds(s, pass, numbers_in(s.y) * s.x[0].cols); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.matmul(Product::NN, s.x[0], s.x[1], s.y, false); }
  void backward(Step& s) override {
    Mat A = s.x[0], B = s.x[1], dY = s.dy, dA = s.dx[0], dB = s.dx[1];
    if (dA.data) s.be.matmul(Product::NT, dY, B, dA, s.adds[0]);
    if (dB.data) s.be.matmul(Product::TN, A, dY, dB, s.adds[1]);
  }
};

Var matmul(Var a, Var b, Where where) {
  require_same_tape("matmul", {{"left", a}, {"right", b}});
  const Shape A = a.shape(), B = b.shape();
  if (A.cols != B.rows) {
    shape_error("matmul", "the inner sizes differ (" + std::to_string(A.cols) + " is not " + std::to_string(B.rows) + ")",
                {{"left", a}, {"right", b}},
                A.cols == B.cols ? "did you mean matmul_nt (left times right transposed)?" : "", where);
  }
  return a.tape->record<MatmulOp>(Shape{A.rows, B.cols}, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
