#include <cstring>

#include "engine/cpu/fast/each.h"
#include "engine/cpu/fast/fast.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// A byte of the mask for each number: L bytes are widened to L whole numbers, which choose between two vectors. The rows of a
// mask follow each other without gaps.

typedef signed char bytes __attribute__((vector_size(L)));

static inline ivec kept(const unsigned char* keep) {
  bytes b;
  std::memcpy(&b, keep, sizeof b);
  return __builtin_convertvector(b, ivec) != 0;
}

template <class F, class... Mats>
static inline void each_kept(Mat y, Keep keep, F f, Mats... x) {
  share_numbers(y, one_row(y) && (one_row(x) && ...), 1.0 + sizeof...(x), [&](int i, std::ptrdiff_t from, std::ptrdiff_t n) {
    const unsigned char* m = keep.data + std::ptrdiff_t(i) * keep.cols + from;
    Real* p = y.row(i) + from;
    std::ptrdiff_t k = 0;
    for (; k + L <= n; k += L) store(p + k, f(kept(m + k), load(x.row(i) + from + k)...));
    for (; k < n; ++k) p[k] = f(m[k] != 0, x.row(i)[from + k]...);
  });
}

static inline vec pick(ivec keep, vec a, vec b) { return keep ? a : b; }
static inline Real pick(bool keep, Real a, Real b) { return keep ? a : b; }
static inline vec like(vec, Real x) { return splat(x); }
static inline Real like(Real, Real x) { return x; }

void FastCpu::select(Mat x, Keep keep, Real other, Mat y) {
  each_kept(y, keep, [other](auto k, auto p) { return pick(k, p, like(p, other)); }, x);
}
void FastCpu::choose(Mat a, Mat b, Keep keep, Mat y) {
  each_kept(y, keep, [](auto k, auto p, auto q) { return pick(k, p, q); }, a, b);
}
void FastCpu::add_selected(Mat dy, Keep keep, Mat dx) {
  each_kept(dx, keep, [](auto k, auto d, auto old) { return pick(k, old + d, old); }, dy, dx);
}
void FastCpu::add_unselected(Mat dy, Keep keep, Mat dx) {
  each_kept(dx, keep, [](auto k, auto d, auto old) { return pick(k, old, old + d); }, dy, dx);
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
