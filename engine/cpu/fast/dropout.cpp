#include "engine/cpu/fast/each.h"
#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/wide.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// The choices of the plain twin, bit for bit, W entries at once. engine/rng.h is a chain, s_(k+1) = a s_k + c, but one can jump:
//
//   s_k = a^k s_0 + (1 + a + ... + a^(k-1)) c      so W links far apart run side by side
//
// Entry j of a row takes the links 2j and 2j + 1 for its 53 bits u, and is dropped if u / 2^53 < p: a comparison of whole numbers.

static constexpr std::uint64_t kA = 6364136223846793005u;

struct Jump {
  std::uint64_t a = 1, c = 0;  // k links: s becomes a s + c · increment
  void next() {
    c = c * kA + 1;
    a *= kA;
  }
};

static inline bits64 output(bits64 s) {  // Rng::bits
  const bits64 x = (((s >> 18) ^ s) >> 27) & 0xffffffffu, turn = s >> 59;
  return (x >> turn | x << (-turn & 31)) & 0xffffffffu;
}

struct Choices {
  bits64 start_a, start_c;  // jumps of the W entries from the first
  Jump step;                // from W entries to the next W
  std::uint64_t least;      // u at least this: kept
  Choices(double p) {
    Jump j;
    for (int k = 0; k < W; ++k, j.next(), j.next()) {
      start_a[k] = j.a;
      start_c[k] = j.c;
    }
    step = j;
    const double scaled = p * 0x1p53;
    least = std::uint64_t(scaled);
    least += double(least) < scaled;
  }
};

// Calls some(j, kept) for W entries of a row at a time; the last may reach beyond its end.
template <class Some>
static inline void each_choice(const Choices& choices, std::uint64_t seed, int row, int n, Some some) {
  const std::uint64_t c = std::uint64_t(row) << 1 | 1, first = (c + seed) * kA + c;  // the state after Rng(seed, row)
  bits64 high = choices.start_a * first + choices.start_c * c;
  for (int j = 0; j < n; j += W) {
    const bits64 low = high * kA + c;
    const bits64 u = (output(high) << 32 | output(low)) >> 11;
    some(j, u >= choices.least);
    high = high * choices.step.a + choices.step.c * c;
  }
}

static Real kept_factor(double p) { return p < 1 ? Real(1 / (1 - p)) : Real(0); }

template <class F>
static inline void drop(Mat x, double p, std::uint64_t seed, Mat y, F f) {
  const Choices choices(p);
  share_rows(y, 16, [&](int i) {
    const Real* from = x.row(i);
    Real* to = y.row(i);
    each_choice(choices, seed, i, y.cols, [&](int j, auto kept) {
      if (j + W <= y.cols) {
        store_few(to + j, f(__builtin_convertvector(kept, few_whole), load_few(from + j), to + j));
        return;
      }
      for (int k = 0; j + k < y.cols; ++k) to[j + k] = f(kept[k] != 0, from[j + k], to + j + k);
    });
  });
}

static inline few pick(few_whole keep, few a, few b) { return keep ? a : b; }
static inline Real pick(bool keep, Real a, Real b) { return keep ? a : b; }
static inline few at(few, const Real* p) { return load_few(p); }
static inline Real at(Real, const Real* p) { return *p; }

void FastCpu::dropout(Mat x, double p, std::uint64_t seed, Mat y) {
  if (small(y)) return CpuBackend::dropout(x, p, seed, y);
  const Real s = kept_factor(p);
  drop(x, p, seed, y, [s](auto keep, auto v, const Real*) { return pick(keep, v * s, decltype(v){}); });
}

void FastCpu::dropout_backward(Mat dy, double p, std::uint64_t seed, Mat dx) {
  if (small(dx)) return CpuBackend::dropout_backward(dy, p, seed, dx);
  const Real s = kept_factor(p);
  drop(dy, p, seed, dx, [s](auto keep, auto d, const Real* old) { return pick(keep, at(d, old) + d * s, at(d, old)); });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
