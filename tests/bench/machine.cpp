// What this machine can do: multiply-adds in registers, and bytes through each level of memory. Probed in the same run as the
// rest, because on a shared machine it changes by the minute.
#include <cstring>

#include "engine/cpu/threads.h"
#include "tests/bench/ours.h"

namespace bench {

static constexpr long kSteps = 20000;

#if defined(__x86_64__)
// 24 (or 14) chains of dependent multiply-adds, more than latency x units, so that the units never wait. The registers are
// spelled out: a compiler would move some to the stack.
#define CHAINS_24 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"
#define CHAINS_14 "0,1,2,3,4,5,6,7,8,9,10,11,12,13"

__attribute__((target("avx512f"))) static void chains_512(long steps) {
  asm volatile(
      ".irp r," CHAINS_24 "\n vpxord %%zmm\\r,%%zmm\\r,%%zmm\\r\n .endr\n"
      "1:\n .irp r," CHAINS_24 "\n vfmadd231ps %%zmm\\r,%%zmm\\r,%%zmm\\r\n .endr\n dec %0\n jnz 1b\n"
      : "+r"(steps)::"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
        "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23");
}

__attribute__((target("avx2,fma"))) static void chains_256(long steps) {
  asm volatile(
      ".irp r," CHAINS_14 "\n vxorps %%ymm\\r,%%ymm\\r,%%ymm\\r\n .endr\n"
      "1:\n .irp r," CHAINS_14 "\n vfmadd231ps %%ymm\\r,%%ymm\\r,%%ymm\\r\n .endr\n dec %0\n jnz 1b\n"
      : "+r"(steps)::"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13");
}
#endif

static float sink;

static double chains_any(long steps) {  // FLOPs; as well as the compiler does it
  float a[32] = {};
  for (long s = 0; s < steps; ++s)
    for (float& x : a) x = x * 0.5f + 1;
  for (const float x : a) sink = sink + x;
  return double(steps) * 64;
}

static double chains(long steps) {  // FLOPs
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    chains_512(steps);
    return double(steps) * 24 * 32;
  }
  if (__builtin_cpu_supports("fma")) {
    chains_256(steps);
    return double(steps) * 14 * 16;
  }
#endif
  return chains_any(steps);
}

struct PeakWork final : Work {
  double flops = 0;
  void once() override {
    double sum = 0;
    [[maybe_unused]] const int n = glass::threads();
#pragma omp parallel num_threads(n) reduction(+ : sum)
    sum += chains(kSteps);
    flops = sum;
  }
  void figures(std::map<std::string, double>& out) override { out["flops"] = flops; }
};

// a = a s + b, in place: what an optimiser or a residual does. 12 bytes for each pair of numbers.
struct BandwidthWork final : Work {
  int n, passes;
  Buffer a, b;
  explicit BandwidthWork(int kib) : n(kib * 128), passes(kib < 8192 ? 8192 / kib : 1), a(std::size_t(n)), b(std::size_t(n)) {}
  void once() override {
    float *const x = a.data, *const y = b.data;
    const int t = glass::threads(), each = n / t;
#pragma omp parallel for num_threads(t) schedule(static, 1)
    for (int part = 0; part < t; ++part)
      for (int pass = 0; pass < passes; ++pass) update(x + part * each, y + part * each, each);
  }
  static void update(float* x, const float* y, int count) {
    for (int i = 0; i < count; ++i) x[i] = x[i] * 0.5f + y[i];
    asm volatile("" ::: "memory");
  }
  void figures(std::map<std::string, double>& out) override { out["bytes"] = 12.0 * n * passes; }
};

std::unique_ptr<Work> machine_work(const Request& r) {
  if (r.is("peak", 0)) return std::make_unique<PeakWork>();
  if (r.is("bandwidth", 1)) return std::make_unique<BandwidthWork>(r.size[0]);
  return nullptr;
}

}  // namespace bench
