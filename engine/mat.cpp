#include "engine/mat.h"

#include <utility>

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

void size_error(Shape s) {
  if (s.rows < 0 || s.cols < 0) throw ShapeError("a matrix cannot be " + to_text(s.rows, s.cols) + ": sizes are 0 or more");
  throw ShapeError("a matrix of " + to_text(s.rows, s.cols) + " does not fit in memory");
}

void index_error(int r, int c, int rows, int cols) {
  throw ShapeError("index [" + std::to_string(r) + "," + std::to_string(c) + "] is outside a matrix of " +
                   to_text(rows, cols));
}

Mat Mat::block(int r0, int c0, int nr, int nc) const {
  if (r0 < 0 || c0 < 0 || nr < 0 || nc < 0 || r0 > rows - nr || c0 > cols - nc) {
    throw ShapeError("block: " + to_text(nr, nc) + " at [" + std::to_string(r0) + "," + std::to_string(c0) +
                     "] sticks out of a matrix of " + to_text(rows, cols));
  }
  if (!data) return {nullptr, nr, nc, ld};
  return {data + std::ptrdiff_t(r0) * ld + c0, nr, nc, ld};
}

Matrix::Matrix(Shape s, Backend* home) : home_(home ? home : &cpu_backend()) {
  const std::ptrdiff_t n = count(s);
  view_ = {static_cast<Real*>(home_->alloc(std::size_t(n) * sizeof(Real))), s.rows, s.cols, s.cols};
  home_->fill(view_, 0);
}

Matrix::Matrix(std::initializer_list<std::initializer_list<double>> rows)
    : Matrix(Shape{int(rows.size()), rows.size() ? int(rows.begin()->size()) : 0}) {
  int r = 0;
  for (const auto& row : rows) {
    if (int(row.size()) != cols()) throw ShapeError("the rows of a matrix must be equally long");
    int c = 0;
    for (double x : row) view_(r, c++) = Real(x);
    ++r;
  }
}

Matrix::Matrix(Mat values, Backend* home) : Matrix(values.shape(), home) { home_->from_host(values, view_); }

Matrix::Matrix(const Matrix& other) : Matrix(other.shape(), other.home_) { home_->copy(other.view_, view_); }

Matrix Matrix::lent(Mat memory, Backend& home) {
  Matrix m;
  m.home_ = &home;
  m.view_ = memory;
  m.owns_ = false;
  return m;
}

Matrix::Matrix(Matrix&& other) noexcept
    : home_(std::exchange(other.home_, nullptr)), view_(std::exchange(other.view_, {})), owns_(std::exchange(other.owns_, true)) {}

Matrix& Matrix::operator=(Matrix other) noexcept {
  std::swap(home_, other.home_);
  std::swap(view_, other.view_);
  std::swap(owns_, other.owns_);
  return *this;
}

Matrix::~Matrix() {
  if (home_ && owns_) home_->free(view_.data);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
