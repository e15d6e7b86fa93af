#include "tests/bench/turns.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>

namespace bench {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

long (*heap_calls)() = nullptr;

static long faults() {
  rusage u;
  getrusage(RUSAGE_SELF, &u);
  return u.ru_minflt;
}

static constexpr double kShortest = 20e-6;  // a sample below this is mostly the clock: several calls make one sample

static void answer(Work& work, double seconds) {
  static std::vector<double> samples(1 << 16);  // touched once, so that the timed part takes no page for it
  double start = now();
  work.once();  // wakes the threads and fills the caches
  const double first = now() - start;
  const int calls = std::max(1, int(std::ceil(kShortest / std::max(first, 1e-9))));
  std::size_t n = 0;
  const long heap = heap_calls ? heap_calls() : 0, pages = faults();
  const double end = now() + seconds;
  do {
    start = now();
    for (int i = 0; i < calls; ++i) work.once();
    samples[n++] = (now() - start) / calls / work.per;
  } while (now() < end && n < samples.size());
  const double pieces = double(n) * calls;
  const long pages_taken = faults() - pages, heap_taken = heap_calls ? heap_calls() - heap : 0;
  std::sort(samples.begin(), samples.begin() + std::ptrdiff_t(n));
  std::map<std::string, double> figures{{"faults", double(pages_taken) / pieces}};
  if (heap_calls) figures["heap"] = double(heap_taken) / pieces;
  work.figures(figures);
  std::printf("{\"n\": %zu, \"min\": %.9g, \"median\": %.9g", n, samples[0], samples[n / 2]);
  for (const auto& [name, value] : figures) std::printf(", \"%s\": %.9g", name.c_str(), value);
  std::puts("}");
}

int serve(const std::string& about, Maker make, void (*use_threads)(int)) {
  std::puts(about.c_str());
  std::fflush(stdout);
  std::string line, made;
  std::unique_ptr<Work> work;
  while (std::getline(std::cin, line)) {
    std::istringstream words(line);
    int threads = 1;
    double seconds = 0;
    Request r;
    words >> threads >> seconds >> r.kind >> r.variant;
    for (int n; words >> n;) r.size.push_back(n);
    const std::string name = line.substr(line.find(r.kind));
    try {
      use_threads(threads);
      if (name != made) {
        made.clear();
        work.reset();  // before the next one takes memory
        work = make(r);
        made = name;
        if (work) work->once();
      }
      if (work) answer(*work, seconds);
      else std::puts("{\"none\": \"not part of this program\"}");
    } catch (const std::exception& e) {
      std::string why = e.what();
      std::replace(why.begin(), why.end(), '"', '\'');
      std::replace(why.begin(), why.end(), '\n', ' ');
      std::printf("{\"none\": \"%s\"}\n", why.c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}

Buffer::Buffer(std::size_t n) {
  constexpr std::size_t huge = 2u << 20;
  const std::size_t bytes = (n * sizeof(float) + huge - 1) / huge * huge;
  data = static_cast<float*>(std::aligned_alloc(huge, bytes));
  if (!data) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(data, bytes, MADV_HUGEPAGE);
#endif
  unsigned state = 1;
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    data[i] = float(state >> 8) / 8388608.0f - 1;
  }
}

Buffer::~Buffer() { std::free(data); }

static std::size_t area(int r, int c) { return std::size_t(r) * std::size_t(c); }

ProductWork::ProductWork(const Request& r)
    : ta(r.variant[0] == 'T'), tb(r.variant[1] == 'T'), M(r.size[0]), K(r.size[1]), N(r.size[2]), A(area(M, K)), B(area(K, N)), C(area(M, N)) {}

void ProductWork::figures(std::map<std::string, double>& out) {
  double worst = 0;
  for (int q = 0; q < 64; ++q) {
    const int i = int(q * 7919L % M), j = int(q * 104729L % N);
    double sum = 0;
    for (int k = 0; k < K; ++k) sum += double(A.data[ta ? area(k, M) + std::size_t(i) : area(i, K) + std::size_t(k)]) * B.data[tb ? area(j, K) + std::size_t(k) : area(k, N) + std::size_t(j)];
    worst = std::max(worst, std::fabs(sum - C.data[area(i, N) + std::size_t(j)]));
  }
  out["error"] = worst;
}

}  // namespace bench
