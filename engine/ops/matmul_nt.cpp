// Y = A Bᵀ                                  A: R x K    B: C x K    Y: R x C
//
//   Y_ij = Σ_k A_ik B_jk                      row i of A with row j of B: every query meets every key
//   dA = dY B       dB = dYᵀ A
#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct MatmulNtOp final : Op {
  const char* name() const override { return "matmul_nt"; }
  const char* hazard() const override { return "a sum of products is too large for the number type, or holds 0 times infinity"; }
  bool mixes_entries() const override { return true; }
  Cost cost(const Step& s, Pass pass) const override { return multiply_adds(s, pass, numbers_in(s.y) * s.x[0].cols); }
  bool stores(int) const override { return true; }
  void forward(Step& s) override { s.be.matmul(Product::NT, s.x[0], s.x[1], s.y, false); }
  void backward(Step& s) override {
    Mat A = s.x[0], B = s.x[1], dY = s.dy, dA = s.dx[0], dB = s.dx[1];
    if (dA.data) s.be.matmul(Product::NN, dY, B, dA, s.adds[0]);
    if (dB.data) s.be.matmul(Product::TN, dY, A, dB, s.adds[1]);
  }
};

Var matmul_nt(Var a, Var b, Where where) {
  require_same_tape("matmul_nt", {{"left", a}, {"right", b}});
  const Shape A = a.shape(), B = b.shape();
  if (A.cols != B.cols) {
    shape_error("matmul_nt", "the row lengths differ (" + std::to_string(A.cols) + " is not " + std::to_string(B.cols) + ")",
                {{"left", a}, {"right", b}}, A.cols == B.rows ? "did you mean matmul (no transpose)?" : "", where);
  }
  return a.tape->record<MatmulNtOp>(Shape{A.rows, B.rows}, {a, b}, where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
