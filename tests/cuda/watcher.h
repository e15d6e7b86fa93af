// Kernels under the watcher (engine/cuda/on_cpu/watcher.cpp): a launch with a race throws by itself; these say what the
// memory accesses since the last forget_accesses() cost. Lines are named by their text, so that a pin survives an edit
// elsewhere.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

#include "engine/cuda/on_cpu/watcher.h"

namespace glass {

struct Traffic {
  unsigned long requests = 0, cost = 0, best = 0;  // as in cuda_on_cpu::AccessLine, added up
};

// Of every line that contains `part`. Empty if there is none, so check requests too.
inline Traffic traffic(const std::string& part, bool shared, bool write) {
  Traffic sum;
  for (const cuda_on_cpu::AccessLine& l : cuda_on_cpu::accesses()) {
    if (l.shared != shared || l.write != write || l.text.find(part) == std::string::npos) continue;
    sum.requests += l.requests, sum.cost += l.cost, sum.best += l.best;
  }
  return sum;
}

// The lines that cost more than the bytes they ask for: bank conflicts, or sectors that are used in part. One a line:
//   "transpose.cu shared read 32.00 passes, best 1.00: y[threadIdx.y * n + threadIdx.x] = t[threadIdx.x][threadIdx.y];"
// "" if there are none. A kernel under test must have run, or this throws.
inline std::string slow_lines() {
  std::string text;
  const auto lines = cuda_on_cpu::accesses();
  if (lines.empty()) throw std::runtime_error("slow_lines: no kernel has touched memory");
  for (const cuda_on_cpu::AccessLine& l : lines) {
    if (l.cost == l.best) continue;
    char s[100];
    std::snprintf(s, sizeof s, " %s %s %.2f %s, best %.2f: ", l.shared ? "shared" : "global",
                  l.write ? "write" : "read", double(l.cost) / double(l.requests), l.shared ? "passes" : "sectors",
                  double(l.best) / double(l.requests));
    text += l.file + s + l.text + "\n";
  }
  return text;
}

}  // namespace glass
