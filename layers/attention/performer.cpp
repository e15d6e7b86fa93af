#include "layers/attention/performer.h"

#include <algorithm>
#include <cmath>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Matrix normals(int rows, int cols, Rng& rng) {
  Matrix x(Shape{rows, cols});
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) x(i, j) = Real(rng.normal());
  return x;
}

static double square_length(Mat x, int row) {
  double sum = 0;
  for (int j = 0; j < x.cols; ++j) sum += double(x(row, j)) * double(x(row, j));
  return sum;
}

// Row i loses its part along each earlier row k and gets the length 1. This is QR by Gram and Schmidt, for rows: R_ii > 0.
static Matrix orthonormal_rows(Matrix x) {
  for (int i = 0; i < x.rows(); ++i) {
    for (int k = 0; k < i; ++k) {
      double along = 0;
      for (int j = 0; j < x.cols(); ++j) along += double(x(i, j)) * double(x(k, j));
      for (int j = 0; j < x.cols(); ++j) x(i, j) -= Real(along) * x(k, j);
    }
    const double length = std::sqrt(square_length(x, i));
    for (int j = 0; j < x.cols(); ++j) x(i, j) /= Real(length);
  }
  return x;
}

// What QR by Householder's reflections gives instead, as libraries do it. Reflection i turns row i into the axis i, away from the sign that
// entry i has by then, so R_ii has the opposite sign (the last row is left as it is). Row i of Q is that of Gram and Schmidt times the
// sign of R_ii.
static void give_raw_signs(Matrix& q, Matrix x) {
  const int d = x.cols();
  for (int i = 0; i < d; ++i) {
    const double length = std::sqrt(square_length(x.view().block(i, i, 1, d - i), 0));
    const double R_ii = i == d - 1 ? double(x(i, i)) : x(i, i) > 0 ? -length : length;
    if (R_ii < 0)
      for (int j = 0; j < d; ++j) q(i, j) = -q(i, j);
    Matrix v(x.view().block(i, i, 1, d - i));  // the reflection is y - 2 v (v·y) / (v·v)
    v(0, 0) -= Real(R_ii);
    const double vv = square_length(v, 0);
    for (int k = i; k < d && vv > 0; ++k) {
      double vy = 0;
      for (int j = i; j < d; ++j) vy += double(v(0, j - i)) * double(x(k, j));
      for (int j = i; j < d; ++j) x(k, j) -= Real(2 * vy / vv) * v(0, j - i);
    }
  }
}

Matrix random_features(Draw draw, int M, int d, Rng& rng) {
  if (M < 1 || d < 1) throw InputError("random_features: needs at least one feature and one column, not " + to_text(M, d));
  if (draw == Draw::iid) return normals(M, d, rng);
  Matrix W(Shape{M, d});
  for (int first = 0; first < M; first += d) {
    const Matrix x = normals(d, d, rng), lengths = normals(d, d, rng);
    Matrix q = orthonormal_rows(x);
    if (draw == Draw::raw_qr) give_raw_signs(q, x);
    for (int i = 0; i < d && first + i < M; ++i)
      for (int j = 0; j < d; ++j) W(first + i, j) = Real(std::sqrt(square_length(lengths, i))) * q(i, j);
  }
  return W;
}

static double bound_of(Mat W) {  // w·x - |x|²/2 = |w|²/2 - |w - x|²/2 is at most |w|²/2
  double largest = 0;
  for (int r = 0; r < W.rows; ++r) largest = std::max(largest, square_length(W, r) / 2);
  return largest;
}

Var positive_features(Var x, Mat features, Shift shift) {
  Tape& tape = *x.tape;
  const Var H = matmul_nt(x, tape.constant(features, "w")).named("H"), half_square = scale(row_sum(mul(x, x)), 0.5);
  Var exponent = sub_col(H, half_square);
  if (shift == Shift::each_row) exponent = sub_col(exponent, detach(row_max(exponent)));
  if (shift == Shift::one_for_all) exponent = add_scalar(exponent, neg(detach(max(exponent))));
  if (shift == Shift::bound) exponent = add_number(exponent, -bound_of(features));
  return scale(exp(exponent), 1 / std::sqrt(double(features.rows))).named("F");
}

Var Performer::attend(Var Q, Var K, Var V, const Call& call) const {
  if (W.cols() != Q.shape().cols) {
    throw ShapeError("performer attention: the features are for width " + std::to_string(W.cols()) + ", but the queries have width " + std::to_string(Q.shape().cols));
  }
  const double s = std::pow(double(Q.shape().cols), -0.25);
  const bool ahead = call.allowed && !call.allowed->is_padding();  // not every query may see every key that is used
  const Var x = scale(Q, s), y = scale(hide_keys(K, call.allowed), s);
  const Var a = positive_features(x, W, stable ? Shift::each_row : Shift::none);
  const Var b = positive_features(y, W, !stable ? Shift::none : ahead ? Shift::bound : Shift::one_for_all);
  return attend_by_features(form, a.named("a"), b.named("b"), V, 0, call);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
