// The peak: many sums side by side, each multiplied and added to, so that no addition waits for the one before. With 24 sums the
// adders are never idle (two of them, four steps long, need 8); 16 registers hold 12. A processor with AVX2 or AVX-512 is asked
// when the program runs, so the same program finds the peak of each.
//
// The bandwidth: an update in place, a = s a + b. It writes only what it has read, so nothing moves that is not counted.
#include "engine/cpu/probe.h"

#include <chrono>
#include <cstddef>
#include <cstdlib>

#include "engine/backend.h"
#include "engine/cpu/threads.h"

namespace glass {
inline namespace GLASS_PRECISION {

namespace {

struct Loops {
  int lanes, chains;
  Real (*multiply_add)(long steps, Real factor);               // steps x chains x lanes of them
  void (*update)(Real* a, const Real* b, std::size_t n, Real s);
};

template <int bytes, int chains>
inline __attribute__((always_inline)) Real run_chains(long steps, Real factor) {
  typedef Real vec __attribute__((vector_size(bytes)));
  constexpr int lanes = bytes / int(sizeof(Real));
  const vec x = factor - vec{}, y = vec{} + Real(1e-9);
  vec sum[chains];
  for (int c = 0; c < chains; ++c) sum[c] = vec{} + Real(c);  // no two alike, or the compiler would compute one of them
  for (long k = 0; k < steps; ++k) {
#pragma GCC unroll 32
    for (int c = 0; c < chains; ++c) sum[c] = sum[c] * x + y;
  }
  Real all = 0;
  for (int c = 0; c < chains; ++c)
    for (int i = 0; i < lanes; ++i) all += sum[c][i];
  return all;
}

template <int bytes>
inline __attribute__((always_inline)) void run_update(Real* a, const Real* b, std::size_t n, Real s) {
  typedef Real vec __attribute__((vector_size(bytes), aligned(alignof(Real)), may_alias));
  constexpr std::size_t lanes = bytes / sizeof(Real);
  for (std::size_t i = 0; i + lanes <= n; i += lanes) {
    vec* to = reinterpret_cast<vec*>(a + i);
    *to = *to * s + *reinterpret_cast<const vec*>(b + i);
  }
}

}  // namespace

#if defined(__x86_64__) || defined(_M_X64)
__attribute__((target("avx512f"))) static Real chains_64(long n, Real x) { return run_chains<64, 24>(n, x); }
__attribute__((target("avx512f"))) static void update_64(Real* a, const Real* b, std::size_t n, Real s) { run_update<64>(a, b, n, s); }
__attribute__((target("avx2,fma"))) static Real chains_32(long n, Real x) { return run_chains<32, 12>(n, x); }
__attribute__((target("avx2,fma"))) static void update_32(Real* a, const Real* b, std::size_t n, Real s) { run_update<32>(a, b, n, s); }
static Real chains_16(long n, Real x) { return run_chains<16, 12>(n, x); }
static void update_16(Real* a, const Real* b, std::size_t n, Real s) { run_update<16>(a, b, n, s); }

static Loops widest() {
  if (__builtin_cpu_supports("avx512f")) return {64 / int(sizeof(Real)), 24, chains_64, update_64};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {32 / int(sizeof(Real)), 12, chains_32, update_32};
  return {16 / int(sizeof(Real)), 12, chains_16, update_16};
}
#else
static Real chains_16(long n, Real x) { return run_chains<16, 24>(n, x); }
static void update_16(Real* a, const Real* b, std::size_t n, Real s) { run_update<16>(a, b, n, s); }
static Loops widest() { return {16 / int(sizeof(Real)), 24, chains_16, update_16}; }
#endif

static double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

static volatile Real seen;       // so that the compiler cannot leave the sums out
static volatile Real near_one = Real(0.999);

constexpr double kLong = 0.06;  // seconds for each of the four numbers; the best of all tries counts
constexpr int kLeast = 5;       // tries, however long they take

static double flops_per_second(const Loops& loops, int n) {
  const long steps = 20000;  // about a quarter of a millisecond
  const Real factor = near_one;
  double best = 0;
  const double end = seconds() + kLong;
  for (int i = 0; i < kLeast || seconds() < end; ++i) {
    const double start = seconds();
    Real sum = 0;
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum += loops.multiply_add(steps, factor);
    const double took = seconds() - start;
    seen = sum;
    const double rate = 2.0 * double(steps) * loops.chains * loops.lanes * n / took;
    best = rate > best ? rate : best;
  }
  return best;
}

static double bytes_per_second(const Loops& loops, int n, Real* a, Real* b, std::size_t count) {
  double best = 0;
  const std::size_t share = count / std::size_t(n);
  const double end = seconds() + kLong;
  for (int i = 0; i < kLeast || seconds() < end; ++i) {
    const double start = seconds();
#pragma omp parallel for num_threads(n) schedule(static)
    for (int t = 0; t < n; ++t) loops.update(a + share * std::size_t(t), b + share * std::size_t(t), share, near_one);
    const double rate = 3.0 * sizeof(Real) * double(share) * n / (seconds() - start);
    best = rate > best ? rate : best;
  }
  return best;
}

Limits measure_limits() {
  const Loops loops = widest();
  Limits limits;
  limits.threads = threads();
  limits.flops_of_one = flops_per_second(loops, 1);
  limits.flops = limits.threads > 1 ? flops_per_second(loops, limits.threads) : 0;
  if (limits.flops < limits.flops_of_one) limits.flops = limits.flops_of_one;  // the other cores are busy
  const std::size_t count = (std::size_t(12) << 20) / sizeof(Real);
  Backend& be = cpu_backend();
  Real* memory = static_cast<Real*>(be.alloc(2 * count * sizeof(Real)));
  for (std::size_t i = 0; i < 2 * count; ++i) memory[i] = 1;
  limits.bytes_of_one = bytes_per_second(loops, 1, memory, memory + count, count);
  limits.bytes = limits.threads > 1 ? bytes_per_second(loops, limits.threads, memory, memory + count, count) : 0;
  if (limits.bytes < limits.bytes_of_one) limits.bytes = limits.bytes_of_one;
  be.free(memory);
  return limits;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
