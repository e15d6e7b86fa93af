// Rows of numbers: what the fast row kernels have in common.
#pragma once

#include "engine/cpu/fast/share.h"
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
// What a gradient is added to: what stands there, or nothing yet.
static inline vec start_of(const Real* p, int left, bool accumulate) { return accumulate ? load_to(p, left, 0) : vec{}; }

// Calls body(j, left) for each vector from j to end; only the last may have fewer numbers `left` than L.
template <class Body>
static inline void by_vector(int j, int end, Body body) {
  for (; j + L <= end; j += L) body(j, L);
  if (j < end) body(j, end - j);
}

// Rows of at most so many numbers run the plain loops, with all sums in double: vectors would gain little there.
constexpr int kShort = 32;

// A sum in float takes 16 numbers in each place of a vector, and is emptied into doubles then: small numbers beside a large one
// are not lost.
constexpr int kBlock = 16 * L;
static inline int block_end(int j, int n) { return n - j < kBlock ? n : j + kBlock; }

// Sums over rows that every thread adds to: each of a fixed number of parts has its own, and they are joined in order, so that
// the number of threads changes no bit.
static inline int parts_of(int rows) { return rows < 64 ? 1 : rows < 1024 ? rows / 32 : 32; }

// Rows are taken kTogether at a time, number by number: a sum waits for its last addition, and other rows fill the time.
constexpr int kTogether = 4;

// Calls four(i) for rows i to i + 3, and one(i) for those that are left.
template <class Four, class One>
static inline void by_four(int first, int last, Four four, One one) {
  int i = first;
  for (; i + kTogether <= last; i += kTogether) four(i);
  for (; i < last; ++i) one(i);
}

// share() for rows that are taken by four: pieces begin at every fourth row, so that which rows go together, and with them the last
// bit, does not depend on the number of threads.
template <class Part>
static inline void share_fours(int rows, double work, Part part) {
  share((rows + kTogether - 1) / kTogether, kTogether * work, [&](int first, int last) {
    part(first * kTogether, last * kTogether < rows ? last * kTogether : rows);
  });
}

static inline Mat row_of(Mat m, int i) { return {m.data ? m.row(i) : nullptr, m.data ? 1 : 0, m.cols, m.ld}; }

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
