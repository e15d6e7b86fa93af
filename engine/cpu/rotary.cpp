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

// Pair i of head h, in row r.
static Turn turn_of(const Rotary& how, Mat x, int r, int h, int i) {
  const int width = x.cols / how.heads, dims = how.turned(width), place = r % (x.rows / how.batch);
  const double p = (double(how.first) + place) * how.spacing, angle = p * std::pow(how.base, -2.0 * i / dims);
  const bool half = how.pairs == Rotary::Pairs::half;
  const int a = half ? i : 2 * i, b = half ? i + dims / 2 : 2 * i + 1;
  return {h * width + a, h * width + b, std::cos(angle), std::sin(angle)};
}

void CpuBackend::rotate(Mat x, const Rotary& how, Mat y) {
  const int width = x.cols / how.heads, dims = how.turned(width);
  for (int r = 0; r < x.rows; ++r) {
    for (int h = 0; h < how.heads; ++h) {
      for (int i = 0; i < dims / 2; ++i) {
        const Turn t = turn_of(how, x, r, h, i);
        y(r, t.a) = Real(x(r, t.a) * t.cos - x(r, t.b) * t.sin);
        y(r, t.b) = Real(x(r, t.a) * t.sin + x(r, t.b) * t.cos);
      }
      for (int c = h * width + dims; c < (h + 1) * width; ++c) y(r, c) = x(r, c);
    }
  }
}

void CpuBackend::rotate_back(Mat dy, const Rotary& how, Mat dx) {
  const int width = dy.cols / how.heads, dims = how.turned(width);
  for (int r = 0; r < dy.rows; ++r) {
    for (int h = 0; h < how.heads; ++h) {
      for (int i = 0; i < dims / 2; ++i) {
        const Turn t = turn_of(how, dy, r, h, i);
        dx(r, t.a) += Real(dy(r, t.a) * t.cos + dy(r, t.b) * t.sin);
        dx(r, t.b) += Real(dy(r, t.b) * t.cos - dy(r, t.a) * t.sin);
      }
      for (int c = h * width + dims; c < (h + 1) * width; ++c) dx(r, c) += dy(r, c);
    }
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
