// What the watcher has learnt: for tests that pin a kernel's memory behaviour. A launch with a race, or with a read of
// shared memory that nobody has written, throws KernelError with the source lines and the threads.
#pragma once
#include <string>
#include <vector>

namespace cuda_on_cpu {
struct AccessLine {  // one source line that touches memory
  std::string file;
  int line = 0;
  std::string text;  // the line itself
  bool shared = false, write = false;
  unsigned long requests = 0;  // one per warp and execution
  unsigned long lanes = 0;     // lanes that took part, in all
  unsigned long cost = 0;      // global: 32-byte sectors moved; shared: passes over the banks
  unsigned long best = 0;      // the least possible for the bytes asked for
};
void forget_accesses();             // what follows counts every launch from here on
std::vector<AccessLine> accesses();  // line by line; tensor-core loads are left out
void print_accesses();
}  // namespace cuda_on_cpu
