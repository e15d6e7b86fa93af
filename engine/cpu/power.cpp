#include <cmath>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CpuBackend::maximum(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = a(i, j) >= b(i, j) || std::isnan(a(i, j)) ? a(i, j) : b(i, j);
}

void CpuBackend::maximum_backward(Mat a, Mat b, Mat dy, Mat da, Mat db) {
  for (int i = 0; i < dy.rows; ++i) {
    for (int j = 0; j < dy.cols; ++j) {
      const bool first = a(i, j) >= b(i, j) || std::isnan(a(i, j));
      if (first && da.data) da(i, j) += dy(i, j);
      if (!first && db.data) db(i, j) += dy(i, j);
    }
  }
}

void CpuBackend::pow(Mat a, Mat b, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = std::pow(a(i, j), b(i, j));
}

void CpuBackend::pow_backward_left(Mat a, Mat b, Mat dy, Mat da) {
  for (int i = 0; i < da.rows; ++i)
    for (int j = 0; j < da.cols; ++j)
      if (dy(i, j) != 0 && b(i, j) != 0) da(i, j) += dy(i, j) * b(i, j) * std::pow(a(i, j), b(i, j) - 1);
}

void CpuBackend::pow_backward_right(Mat a, Mat b, Mat y, Mat dy, Mat db) {
  for (int i = 0; i < db.rows; ++i)
    for (int j = 0; j < db.cols; ++j)
      if (dy(i, j) != 0 && !(a(i, j) == 0 && b(i, j) >= 0)) db(i, j) += dy(i, j) * y(i, j) * std::log(a(i, j));
}

void CpuBackend::clamp(Mat x, Real low, Real high, Mat y) {
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x(i, j) < low ? low : x(i, j) > high ? high : x(i, j);  // a NaN is passed on
}

void CpuBackend::clamp_backward(Mat x, Real low, Real high, Mat dy, Mat dx) {
  for (int i = 0; i < dx.rows; ++i)
    for (int j = 0; j < dx.cols; ++j)
      if (x(i, j) >= low && x(i, j) <= high) dx(i, j) += dy(i, j);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
