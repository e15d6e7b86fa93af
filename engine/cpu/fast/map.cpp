#include "engine/cpu/fast/fast.h"
#include "engine/cpu/fast/functions.h"
#include "engine/cpu/fast/pieces.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// y = f(x) and dx += (or =) dy ∘ f'(x), 0 where dy is 0. What is not here, such as sin, is left to the
// plain loops, a share for each thread.

using Values = void (*)(const Real* x, Real* y, int n);
using Slopes = void (*)(const Real* of, const Real* dy, Real* dx, int n, bool accumulate);

template <vec f(vec)>
static void values(const Real* x, Real* y, int n) {
  int j = 0;
  for (; j + L <= n; j += L) store(y + j, f(load(x + j)));
  if (j < n) store_some(y + j, f(load_some(x + j, n - j, 0)), n - j);
}

template <vec slope(vec)>
static inline vec moved(vec of, vec dy, vec dx) {
  return dy == 0 ? dx : dx + dy * slope(of);  // also where the slope is infinite
}
template <vec slope(vec)>
static void slopes(const Real* of, const Real* dy, Real* dx, int n, bool accumulate) {
  int j = 0;
  for (; j + L <= n; j += L) store(dx + j, moved<slope>(load(of + j), load(dy + j), accumulate ? load(dx + j) : vec{}));
  if (j < n) {
    const int left = n - j;
    const vec before = accumulate ? load_some(dx + j, left, 0) : vec{};
    store_some(dx + j, moved<slope>(load_some(of + j, left, 0), load_some(dy + j, left, 0), before), left);
  }
}

static Values values_of(Function f) {
  switch (f) {
    case Function::exp: return values<exp_of>;
    case Function::sqrt: return values<root>;
    case Function::abs: return values<magnitude>;
    case Function::tanh: return values<tanh_of>;
    case Function::sigmoid: return values<sigmoid>;
    case Function::softplus: return values<softplus>;
    case Function::elu_plus_one: return values<elu_plus_one>;
    case Function::relu: return values<relu>;
    case Function::gelu: return values<gelu>;
    case Function::gelu_tanh: return values<gelu_tanh>;
    case Function::silu: return values<silu>;
    default: return nullptr;
  }
}

struct SlopesOf {
  Slopes run;
  bool y;  // the slope is a function of y
};
static SlopesOf slopes_of(Function f) {
  switch (f) {
    case Function::exp: return {slopes<same>, true};
    case Function::log: return {slopes<log_slope>, false};
    case Function::sqrt: return {slopes<root_slope>, true};
    case Function::abs: return {slopes<abs_slope>, false};
    case Function::tanh: return {slopes<tanh_slope>, false};
    case Function::sigmoid: return {slopes<sigmoid_slope>, false};
    case Function::softplus: return {slopes<sigmoid>, false};
    case Function::elu_plus_one: return {slopes<elu_plus_one_slope>, true};
    case Function::relu: return {slopes<relu_slope>, false};
    case Function::gelu: return {slopes<gelu_slope>, false};
    case Function::gelu_tanh: return {slopes<gelu_tanh_slope>, false};
    case Function::silu: return {slopes<silu_slope>, false};
    default: return {nullptr, false};
  }
}

static Mat piece(Mat m, int i, int j, int n) { return {m.row(i) + j, 1, n, n}; }

static double work_of(Function f) { return f == Function::relu || f == Function::abs ? 3 : 25; }

void FastCpu::map(Function f, Mat x, Mat y) {
  const Values run = values_of(f);
  share_pieces(y, in_one(x) && in_one(y), work_of(f), [&](int i, int j, int n) {
    if (run) run(x.row(i) + j, y.row(i) + j, n);
    else CpuBackend::map(f, piece(x, i, j, n), piece(y, i, j, n));
  });
}

void FastCpu::map_backward(Function f, Mat x, Mat y, Mat dy, Mat dx, bool accumulate) {
  const SlopesOf s = slopes_of(f);
  share_pieces(dx, in_one(x) && in_one(y) && in_one(dy) && in_one(dx), work_of(f), [&](int i, int j, int n) {
    if (s.run) s.run((s.y ? y : x).row(i) + j, dy.row(i) + j, dx.row(i) + j, n, accumulate);
    else CpuBackend::map_backward(f, piece(x, i, j, n), piece(y, i, j, n), piece(dy, i, j, n), piece(dx, i, j, n), accumulate);
  });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
