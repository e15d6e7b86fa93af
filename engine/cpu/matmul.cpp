#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   NN  C_ij = Σ_k A_ik B_kj      NT  C_ij = Σ_k A_ik B_jk      TN  C_ij = Σ_k A_ki B_kj
//
// Version 1: three loops, one running sum per entry. An empty inner size gives zeros. C is overwritten
// without being read, so an old NaN in it does no harm.

static Real entry(Product product, Mat a, Mat b, int i, int j) {
  Real sum = 0;
  switch (product) {
    case Product::NN:
      for (int k = 0; k < a.cols; ++k) sum += a(i, k) * b(k, j);
      break;
    case Product::NT:
      for (int k = 0; k < a.cols; ++k) sum += a(i, k) * b(j, k);
      break;
    case Product::TN:
      for (int k = 0; k < a.rows; ++k) sum += a(k, i) * b(k, j);
      break;
  }
  return sum;
}

void CpuBackend::matmul(Product product, Mat a, Mat b, Mat c, bool accumulate) {
  for (int i = 0; i < c.rows; ++i) {
    for (int j = 0; j < c.cols; ++j) {
      const Real sum = entry(product, a, b, i, j);
      c(i, j) = accumulate ? c(i, j) + sum : sum;
    }
  }
}

void CpuBackend::matmul_add_row(Mat a, Mat b, Mat r, Mat c) {
  for (int i = 0; i < c.rows; ++i)
    for (int j = 0; j < c.cols; ++j) c(i, j) = entry(Product::NN, a, b, i, j) + r(0, j);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
