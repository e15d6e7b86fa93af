#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CpuBackend::add_scalar(Mat x, Mat s, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) + s(0, 0);
}

void CpuBackend::add_row(Mat x, Mat r, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) + r(0, j);
}

void CpuBackend::add_col(Mat x, Mat c, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) + c(i, 0);
}

void CpuBackend::sub_col(Mat x, Mat c, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) - c(i, 0);
}

void CpuBackend::div_col(Mat x, Mat c, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) / c(i, 0);
}

void CpuBackend::div_col_backward(Mat dy, Mat c, Mat dx) {
  for (int i = 0; i < dx.rows; ++i)
    for (int j = 0; j < dx.cols; ++j)
      if (dy(i, j) != 0) dx(i, j) += dy(i, j) / c(i, 0);
}

void CpuBackend::div_col_backward_col(Mat dy, Mat y, Mat c, Mat dc) {
  for (int i = 0; i < dy.rows; ++i) {
    double dot = 0;
    for (int j = 0; j < dy.cols; ++j)
      if (dy(i, j) != 0) dot += double(dy(i, j)) * y(i, j);
    if (dot != 0) dc(i, 0) -= Real(dot / c(i, 0));
  }
}

void CpuBackend::add_number(Mat x, Real s, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) + s;
}

void CpuBackend::mul_scalar(Mat x, Mat s, Mat y) { scale(x, s(0, 0), y); }

void CpuBackend::add_mul_scalar(Mat x, Mat s, Mat y) { add_scaled(s(0, 0), x, y); }

void CpuBackend::sub_row(Mat x, Mat r, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) - r(0, j);
}

void CpuBackend::mul_row(Mat x, Mat r, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) * r(0, j);
}

void CpuBackend::div_row(Mat x, Mat r, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) / r(0, j);
}

void CpuBackend::mul_col(Mat x, Mat c, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) * c(i, 0);
}

void CpuBackend::add_mul_row(Mat x, Mat r, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) += x(i, j) * r(0, j);
}

void CpuBackend::add_mul_col(Mat x, Mat c, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) += x(i, j) * c(i, 0);
}

void CpuBackend::div_row_backward(Mat dy, Mat r, Mat dx) {
  for (int i = 0; i < dx.rows; ++i)
    for (int j = 0; j < dx.cols; ++j)
      if (dy(i, j) != 0) dx(i, j) += dy(i, j) / r(0, j);
}

void CpuBackend::div_row_backward_row(Mat dy, Mat y, Mat r, Mat dr) {
  for (int j = 0; j < dy.cols; ++j) {
    double dot = 0;
    for (int i = 0; i < dy.rows; ++i)
      if (dy(i, j) != 0) dot += double(dy(i, j)) * y(i, j);
    if (dot != 0) dr(0, j) -= Real(dot / r(0, j));
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
