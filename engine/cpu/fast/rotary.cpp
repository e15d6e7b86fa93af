#include <cmath>

#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/scratch.h"
#include "engine/cpu/fast/share.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// Sines and cosines are the same for every head and every sequence, so they are made once for a block of positions. Only those of
// its first row come from sin and cos; the rows below are turned on by one position, in double, so few steps that no digit suffers:
//
//   cos(θ + s) = cos θ cos s - sin θ sin s        sin(θ + s) = sin θ cos s + cos θ sin s        s = spacing base^(-2i/dims)

static constexpr int kPositions = 32;  // in a block

namespace {
struct Table {  // entry r * pairs + i: row r of the block, pair i
  Real *cos, *sin;
  int pairs;
};
}  // namespace

static void make_table(const Rotary& how, int first, int rows, double direction, const Table& to) {
  for (int i = 0; i < to.pairs; ++i) {
    const double step = direction * how.spacing * std::pow(how.base, -double(i) / to.pairs), angle = (double(how.first) + first) * step;
    const double cos_s = std::cos(step), sin_s = std::sin(step);
    double cos = std::cos(angle), sin = std::sin(angle);
    for (int r = 0; r < rows; ++r) {
      to.cos[r * to.pairs + i] = Real(cos);
      to.sin[r * to.pairs + i] = Real(sin);
      const double next = cos * cos_s - sin * sin_s;
      sin = sin * cos_s + cos * sin_s;
      cos = next;
    }
  }
}

// y = x, turned, or y += that. Pair i are the channels (i, i + pairs), or (2i, 2i + 1).
static void turn_halves(const Real* __restrict x, const Real* __restrict cos, const Real* __restrict sin, int pairs, bool add, Real* __restrict y) {
  for (int i = 0; i < pairs; ++i) {
    const Real a = x[i] * cos[i] - x[i + pairs] * sin[i], b = x[i] * sin[i] + x[i + pairs] * cos[i];
    y[i] = add ? y[i] + a : a;
    y[i + pairs] = add ? y[i + pairs] + b : b;
  }
}
static void turn_neighbours(const Real* __restrict x, const Real* __restrict cos, const Real* __restrict sin, int pairs, bool add, Real* __restrict y) {
  for (int i = 0; i < pairs; ++i) {
    const Real a = x[2 * i] * cos[i] - x[2 * i + 1] * sin[i], b = x[2 * i] * sin[i] + x[2 * i + 1] * cos[i];
    y[2 * i] = add ? y[2 * i] + a : a;
    y[2 * i + 1] = add ? y[2 * i + 1] + b : b;
  }
}

static void rotate_all(Mat x, const Rotary& how, double direction, bool add, Mat y) {
  const int width = x.cols / how.heads, dims = how.dims < 0 ? width : how.dims, pairs = dims / 2, n = x.rows / how.batch;
  const auto turn = how.pairs == Rotary::Pairs::half ? turn_halves : turn_neighbours;
  share((n + kPositions - 1) / kPositions, 4.0 * kPositions * how.batch * x.cols, [&](int first, int last) {
    Real* scratch = thread_scratch(Scratch::sums, 2 * std::size_t(kPositions) * pairs + 1);
    const Table table{scratch, scratch + kPositions * pairs, pairs};
    for (int p = first * kPositions; p < last * kPositions && p < n; p += kPositions) {
      const int rows = n - p < kPositions ? n - p : kPositions;
      make_table(how, p, rows, direction, table);
      for (int b = 0; b < how.batch; ++b) {
        for (int r = 0; r < rows; ++r) {
          const Real* from = x.row(b * n + p + r);
          Real* to = y.row(b * n + p + r);
          for (int h = 0; h < how.heads; ++h, from += width, to += width) {
            turn(from, table.cos + r * pairs, table.sin + r * pairs, pairs, add, to);
            for (int c = dims; c < width; ++c) to[c] = add ? to[c] + from[c] : from[c];
          }
        }
      }
    }
  });
}

void FastCpu::rotate(Mat x, const Rotary& how, Mat y) { rotate_all(x, how, 1, false, y); }
void FastCpu::rotate_back(Mat dy, const Rotary& how, Mat dx) { rotate_all(dy, how, -1, true, dx); }

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
