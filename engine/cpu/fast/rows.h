// Rows of numbers: what the fast row kernels have in common.
#pragma once

#include "engine/cpu/fast/simd.h"
#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

constexpr Real kNone = -Real(INFINITY);

// The numbers from p on, of which `left` are still in the row; beyond its end stands `other`.
static inline vec load_to(const Real* p, int left, Real other) { return left >= L ? load(p) : load_some(p, left, other); }
static inline void store_to(Real* p, vec v, int left) {
  if (left >= L) store(p, v);
  else store_some(p, v, left);
}

// A long sum in float is emptied into a double every kBlock numbers.
constexpr int kBlock = 1024;
static inline int block_end(int j, int n) { return n - j < kBlock ? n : j + kBlock; }

// Sums over rows that every thread adds to: each of a fixed number of parts has its own, and they are joined in order, so that
// the number of threads changes no bit.
static inline int parts_of(int rows) { return rows < 64 ? 1 : rows < 1024 ? rows / 32 : 32; }
static inline int part_start(int rows, int parts, int part) { return int(std::int64_t(rows) * part / parts); }

// The largest number of a row; a NaN may be lost.
static inline Real largest_in(const Real* x, int n) {
  vec top[2] = {splat(kNone), splat(kNone)};
  int j = 0;
  for (; j + 2 * L <= n; j += 2 * L) {
    top[0] = larger(top[0], load(x + j));
    top[1] = larger(top[1], load(x + j + L));
  }
  for (; j < n; j += L) top[0] = larger(top[0], load_to(x + j, n - j, kNone));
  return largest_of(larger(top[0], top[1]));
}

// For a row whose largest number is -inf: nothing but -inf, or is there a NaN?
static inline bool has_nan(const Real* x, int n) {
  bool nan = false;
  for (int j = 0; j < n; ++j) nan |= x[j] != x[j];
  return nan;
}

static inline Mat row_of(Mat m, int i) { return {m.data ? m.row(i) : nullptr, m.data ? 1 : 0, m.cols, m.ld}; }

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
