#include <cmath>

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {

namespace {
struct Turn {
  int a, b;         // the two channels
  double cos, sin;  // of the angle, in double in both precisions: a float is too coarse at position 100 000
};
}  // namespace

static Turn turn_of(const Rotary& how, int width, int row, int i) {
  const int dims = how.turned(width);
  const double p = (double(how.first) + row) * how.spacing, angle = p * std::pow(how.base, -2.0 * i / dims);
  const bool half = how.pairs == Rotary::Pairs::half;
  return {half ? i : 2 * i, half ? i + dims / 2 : 2 * i + 1, std::cos(angle), std::sin(angle)};
}

void CpuBackend::rotate(Mat x, const Rotary& how, Mat y) {
  const int dims = how.turned(x.cols);
  for (int r = 0; r < x.rows; ++r) {
    for (int i = 0; i < dims / 2; ++i) {
      const Turn t = turn_of(how, x.cols, r, i);
      y(r, t.a) = Real(x(r, t.a) * t.cos - x(r, t.b) * t.sin);
      y(r, t.b) = Real(x(r, t.a) * t.sin + x(r, t.b) * t.cos);
    }
    for (int c = dims; c < x.cols; ++c) y(r, c) = x(r, c);
  }
}

void CpuBackend::rotate_back(Mat dy, const Rotary& how, Mat dx) {
  const int dims = how.turned(dy.cols);
  for (int r = 0; r < dy.rows; ++r) {
    for (int i = 0; i < dims / 2; ++i) {
      const Turn t = turn_of(how, dy.cols, r, i);
      dx(r, t.a) += Real(dy(r, t.a) * t.cos + dy(r, t.b) * t.sin);
      dx(r, t.b) += Real(dy(r, t.b) * t.cos - dy(r, t.a) * t.sin);
    }
    for (int c = dims; c < dy.cols; ++c) dx(r, c) += dy(r, c);
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
