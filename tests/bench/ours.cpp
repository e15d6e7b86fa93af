// glassgrad's side of tests/bench/run.
#include "tests/bench/ours.h"

#include "engine/cpu/fast.h"
#include "engine/cpu/openmp.h"
#include "engine/cpu/threads.h"

static std::unique_ptr<bench::Work> make(const bench::Request& r) {
  for (const bench::Maker maker : {bench::machine_work, bench::kernel_work, bench::attention_work, bench::training_work}) {
    if (std::unique_ptr<bench::Work> work = maker(r)) return work;
  }
  return nullptr;
}

int main() {
  glass::choose_cpu(glass::fast_cpu());
  bench::heap_calls = bench::count_heap_calls;
  const std::string threads = glass::openmp_present() ? "OpenMP" : "no OpenMP: one thread";
  return bench::serve("{\"name\": \"glassgrad\", \"version\": \"" + std::string(glass::fast_cpu().name()) + ", " + threads + "\"}", make, glass::set_threads);
}
