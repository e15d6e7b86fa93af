// What the watcher has counted, added up: for lesson 41 and for tests that pin a kernel's memory behaviour.
#pragma once

#include "engine/cuda/on_cpu/watcher.h"

namespace cuda_on_cpu {

struct Counts {
  double requests = 0, cost = 0, least = 0;  // cost: sectors of global memory, or passes over the banks of shared memory
  double each() const { return cost / requests; }
};

enum class Which { reads, writes, both };

// Of every line that contains `text`, since the last forget_accesses().
inline Counts counts(bool shared, const std::string& text = "", Which which = Which::both) {
  Counts c;
  for (const AccessLine& l : accesses()) {
    if (l.shared != shared || l.text.find(text) == std::string::npos) continue;
    if (which == (l.write ? Which::reads : Which::writes)) continue;
    c.requests += double(l.requests), c.cost += double(l.cost), c.least += double(l.best);
  }
  return c;
}

}  // namespace cuda_on_cpu
