// Matrices: Mat is a view that never owns, Matrix is an owner.
//
//   Row-major: row r starts at data + r*ld.      block(1, 1, 2, 2) of a 3 x 4 matrix, ld 4:
//
//     memory  0 1 2 3 | 4 5 6 7 | 8 9 10 11         0  1  2  3
//             row 0     row 1     row 2              4 [5  6] 7      same memory, ld still 4
//                                                    8 [9 10] 11
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Backend;

struct Shape {
  int rows = 0, cols = 0;
  friend bool operator==(Shape, Shape) = default;
};

[[noreturn]] void size_error(Shape);
inline std::ptrdiff_t count(Shape s) {  // rows * cols; throws ShapeError if negative or too large for memory
  const std::ptrdiff_t n = std::ptrdiff_t(s.rows) * s.cols;  // two ints always fit in 64 bits
  if (s.rows < 0 || s.cols < 0 || n > PTRDIFF_MAX / std::ptrdiff_t(sizeof(Real))) size_error(s);
  return n;
}

[[noreturn]] void index_error(int r, int c, int rows, int cols);

struct Mat {
  Real* data = nullptr;
  int rows = 0, cols = 0;
  int ld = 0;  // leading dimension: elements from one row to the next

  Shape shape() const { return {rows, cols}; }
  Real* row(int r) const { return data + std::ptrdiff_t(r) * ld; }
  Real& operator()(int r, int c) const {
#ifndef NDEBUG
    if (r < 0 || r >= rows || c < 0 || c >= cols) index_error(r, c, rows, cols);
#endif
    return row(r)[c];
  }
  Mat block(int r0, int c0, int nr, int nc) const;  // free: the same memory; throws if it sticks out
};

// Whole numbers beside the matrices: token ids, positions of maxima.
struct Ints {
  int* data = nullptr;
  int n = 0;
};

// A boolean mask. True = may be used ("may attend"); false = hidden.
struct Keep {
  unsigned char* data = nullptr;
  int rows = 0, cols = 0;
  bool operator()(int r, int c) const { return data[std::ptrdiff_t(r) * cols + c] != 0; }
};

// An owner, for parameters and inputs made by hand. Its memory comes from a backend, so it works on
// every device. Copying copies the numbers.
class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(Shape, Backend* home = nullptr);  // zeros; nullptr: the CPU
  Matrix(std::initializer_list<std::initializer_list<double>> rows);  // {{1, 2}, {3, 4}}
  explicit Matrix(Mat values, Backend* home = nullptr);               // copies a view that the host can read
  static Matrix lent(Mat memory, Backend& home);  // a part of memory that someone else owns, for as long as that lives
  Matrix(const Matrix&);                          // a copy owns its memory, whatever it is a copy of
  Matrix(Matrix&&) noexcept;
  Matrix& operator=(Matrix) noexcept;
  ~Matrix();

  Mat view() const { return view_; }
  operator Mat() const { return view_; }
  Real& operator()(int r, int c) const { return view_(r, c); }
  Shape shape() const { return view_.shape(); }
  int rows() const { return view_.rows; }
  int cols() const { return view_.cols; }
  Backend* home() const { return home_; }

 private:
  Backend* home_ = nullptr;
  Mat view_;
  bool owns_ = true;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
