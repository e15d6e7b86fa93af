// What the watcher learnt from the last launch: for tests that pin a kernel's memory behaviour.
#pragma once
#include <string>
#include <vector>

namespace cuda_on_cpu {
struct AccessLine {  // one source line that touches memory
  std::string file;
  int line = 0;
  bool shared = false, write = false;
  unsigned long requests = 0;  // one per warp and execution
  unsigned long lanes = 0;     // lanes that took part, in all
  unsigned long cost = 0;      // global: 32-byte sectors moved; shared: passes over the banks
  unsigned long best = 0;      // the least possible for the bytes asked for
};
std::vector<AccessLine> last_launch_accesses();
void print_last_launch();
}  // namespace cuda_on_cpu
