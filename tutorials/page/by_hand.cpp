#include "tutorials/page/by_hand.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace glass {
inline namespace GLASS_PRECISION {
namespace by_hand {

Matrix product(Mat A, Mat B) {
  Matrix Y(Shape{A.rows, B.cols});
  for (int i = 0; i < A.rows; ++i)
    for (int k = 0; k < A.cols; ++k)
      for (int j = 0; j < B.cols; ++j) Y(i, j) += A(i, k) * B(k, j);
  return Y;
}

static Matrix transposed(Mat A) {
  Matrix T(Shape{A.cols, A.rows});
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) T(j, i) = A(i, j);
  return T;
}

Matrix product_nt(Mat A, Mat B) { return product(A, transposed(B)); }

Matrix product_tn(Mat A, Mat B) { return product(transposed(A), B); }

Matrix sum(Mat A, Mat B) {
  Matrix Y(A);
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) Y(i, j) += B(i, j);
  return Y;
}

Matrix add_row(Mat A, Mat r) {
  Matrix Y(A);
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) Y(i, j) += r(0, j);
  return Y;
}

Matrix scaled(double s, Mat A) {
  Matrix Y(A);
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) Y(i, j) = Real(s * A(i, j));
  return Y;
}

Matrix softmax(Mat E) {
  Matrix A(E);
  for (int i = 0; i < E.rows; ++i) {
    const Real m = *std::max_element(E.row(i), E.row(i) + E.cols);
    Real sum = 0;
    for (int j = 0; j < E.cols; ++j) sum += A(i, j) = std::isinf(m) ? 0 : std::exp(E(i, j) - m);
    for (int j = 0; j < E.cols && sum > 0; ++j) A(i, j) /= sum;
  }
  return A;
}

// Row by row, the Jacobian times the vector: dE_j = Σ_k dA_k ∂A_k/∂E_j,  ∂A_k/∂E_j = A_k ([k = j] - A_j)
Matrix softmax_backward(Mat A, Mat dA) {
  Matrix dE(A.shape());
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j)
      for (int k = 0; k < A.cols; ++k) dE(i, j) += dA(i, k) * A(i, k) * ((k == j) - A(i, j));
  return dE;
}

// Kernel entry w_ab joins X_kl and Y_ij if k = i - A + 1 + a and l = j - (B-1)/2 + b.
static bool joined(int rows, int cols, int i, int j, int k, int l, int& a, int& b) {
  a = k - i + rows - 1, b = l - j + (cols - 1) / 2;
  return a >= 0 && a < rows && b >= 0 && b < cols;
}

enum class Wanted { Y, dX, dw };

// Every pair of an entry of X and an entry of Y, and what the kernel makes of it.
static Matrix conv2d_walk(Mat X, Mat w, Mat Y, Shape kernel, Wanted wanted) {
  Matrix sum(wanted == Wanted::dw ? kernel : wanted == Wanted::Y ? X.shape() : Y.shape());
  const Shape s = X.data ? X.shape() : Y.shape();
  for (int i = 0, a = 0, b = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j)
      for (int k = 0; k < s.rows; ++k)
        for (int l = 0; l < s.cols; ++l) {
          if (!joined(kernel.rows, kernel.cols, i, j, k, l, a, b)) continue;
          if (wanted == Wanted::Y) sum(i, j) += w(a, b) * X(k, l);
          if (wanted == Wanted::dX) sum(k, l) += w(a, b) * Y(i, j);
          if (wanted == Wanted::dw) sum(a, b) += X(k, l) * Y(i, j);
        }
  return sum;
}

Matrix conv2d(Mat X, Mat w) { return conv2d_walk(X, w, {}, w.shape(), Wanted::Y); }
Matrix conv2d_dX(Mat dY, Mat w) { return conv2d_walk({}, w, dY, w.shape(), Wanted::dX); }
Matrix conv2d_dw(Mat X, Mat dY, Shape w) { return conv2d_walk(X, {}, dY, w, Wanted::dw); }

Matrix row_sums(Mat A) {
  Matrix s(Shape{A.rows, 1});
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) s(i, 0) += A(i, j);
  return s;
}

Matrix col_sums(Mat A) {
  Matrix s(Shape{1, A.cols});
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) s(0, j) += A(i, j);
  return s;
}

bool same(Mat A, Mat B) {
  bool all = A.shape() == B.shape();
  for (int i = 0; all && i < A.rows; ++i) all = std::equal(A.row(i), A.row(i) + A.cols, B.row(i));
  return all;
}

double norm(Mat A) { return std::sqrt(dot(A, A)); }

double distance(Mat A, Mat B) { return norm(sum(A, scaled(-1, B))); }

double dot(Mat A, Mat B) {
  double sum = 0;
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) sum += double(A(i, j)) * double(B(i, j));
  return sum;
}

double apart(Mat A, Mat B) {
  double most = 0;
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < A.cols; ++j) most = std::max(most, std::fabs(double(A(i, j)) - double(B(i, j))));
  return most;
}

// One-sided Jacobi (Hestenes 1958): turn two columns in their plane until they are at right angles, pair after pair. Turning keeps the
// singular values; of columns that are all at right angles they are the lengths.
Matrix singular_values(Mat A) {
  Matrix U = A.rows < A.cols ? transposed(A) : Matrix(A);
  for (int sweep = 0; sweep < 30; ++sweep) {
    for (int p = 0; p < U.cols(); ++p) {
      for (int q = p + 1; q < U.cols(); ++q) {
        const Mat up = U.view().block(0, p, U.rows(), 1), uq = U.view().block(0, q, U.rows(), 1);
        const double angle = std::atan2(2 * dot(up, uq), dot(up, up) - dot(uq, uq)) / 2, c = std::cos(angle), s = std::sin(angle);
        for (int i = 0; i < U.rows(); ++i) {
          const double x = double(U(i, p)), y = double(U(i, q));
          U(i, p) = Real(c * x + s * y);
          U(i, q) = Real(c * y - s * x);
        }
      }
    }
  }
  Matrix lengths(Shape{1, U.cols()});
  for (int j = 0; j < U.cols(); ++j) lengths(0, j) = Real(norm(U.view().block(0, j, U.rows(), 1)));
  std::sort(lengths.view().data, lengths.view().data + U.cols(), std::greater<Real>());
  return lengths;
}

}  // namespace by_hand
}  // namespace GLASS_PRECISION
}  // namespace glass
