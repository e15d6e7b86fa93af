#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CpuBackend::add(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = a(i, j) + b(i, j);
}

void CpuBackend::sub(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = a(i, j) - b(i, j);
}

void CpuBackend::mul(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = a(i, j) * b(i, j);
}

void CpuBackend::div(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = a(i, j) / b(i, j);
}

void CpuBackend::scale(Mat x, Real s, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = s * x(i, j);
}

void CpuBackend::map(Function f, Mat x, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = value(f, x(i, j));
}

void CpuBackend::map_backward(Function f, Mat x, Mat y, Mat dy, Mat dx, bool accumulate) {
  if (!accumulate) CpuBackend::fill(dx, 0);
  for (int i = 0; i < dx.rows; ++i)
    for (int j = 0; j < dx.cols; ++j)
      if (dy(i, j) != 0) dx(i, j) += dy(i, j) * slope(f, x(i, j), y(i, j));
}

void CpuBackend::add_scaled(Real s, Mat x, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) += s * x(i, j);
}

void CpuBackend::add_product(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) += a(i, j) * b(i, j);
}

void CpuBackend::add_quotient(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j)
      if (b(i, j) != 0) y(i, j) += a(i, j) / b(i, j);
}

void CpuBackend::div_backward_left(Mat dy, Mat b, Mat da) {
  for (int i = 0; i < da.rows; ++i)
    for (int j = 0; j < da.cols; ++j)
      if (dy(i, j) != 0) da(i, j) += dy(i, j) / b(i, j);
}

void CpuBackend::div_backward_right(Mat dy, Mat y, Mat b, Mat db) {
  for (int i = 0; i < db.rows; ++i)
    for (int j = 0; j < db.cols; ++j)
      if (dy(i, j) != 0) db(i, j) -= dy(i, j) * y(i, j) / b(i, j);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
