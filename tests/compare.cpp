#include "tests/compare.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

Matrix sines(Shape s, double size, double a, double b, double c) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(size * std::sin(a * i + b * j + c));
  return m;
}

Matrix cosines(Shape s, double size, double a, double b, double c) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(size * std::cos(a * i + b * j + c));
  return m;
}

Matrix random_matrix(Shape s, Rng& rng) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real(rng.uniform(-1, 1));
  return m;
}

Matrix identity(int n) {
  Matrix m(Shape{n, n});
  for (int i = 0; i < n; ++i) m(i, i) = 1;
  return m;
}

static bool close(Real got, Real want, Tolerance t) {  // false for NaN; an infinity is close to itself
  if (got == want) return true;
  return std::fabs(double(got) - double(want)) <= t.absolute + t.relative * std::fabs(double(want));
}

static bool same_bits(Real got, Real want) { return std::memcmp(&got, &want, sizeof(Real)) == 0; }

static std::string entry_in_words(int i, int j, Real got, Real want) {
  char text[128];
  std::snprintf(text, sizeof text, "%s is %.17g, it should be %.17g", entry_text(i, j).c_str(), double(got),
                double(want));
  return text;
}

static std::string shapes_in_words(Mat got, Mat want) {
  return "the result is " + to_text(got.rows, got.cols) + ", it should be " + to_text(want.rows, want.cols);
}

std::string difference(Mat got, Mat want, Tolerance t) {
  if (got.shape() != want.shape()) return shapes_in_words(got, want);
  for (int i = 0; i < got.rows; ++i)
    for (int j = 0; j < got.cols; ++j)
      if (!close(got(i, j), want(i, j), t)) return entry_in_words(i, j, got(i, j), want(i, j));
  return "";
}

std::string bit_difference(Mat got, Mat want) {
  if (got.shape() != want.shape()) return shapes_in_words(got, want);
  for (int i = 0; i < got.rows; ++i)
    for (int j = 0; j < got.cols; ++j)
      if (!same_bits(got(i, j), want(i, j))) return entry_in_words(i, j, got(i, j), want(i, j));
  return "";
}

bool all_zero(Mat m) {
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.cols; ++j)
      if (m(i, j) != 0) return false;
  return true;
}

double fingerprint(Mat m) {
  double sum = 0;
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.cols; ++j) sum += double(m(i, j)) * std::cos(0.7 * (i * m.cols + j) + 0.3);
  return sum;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
