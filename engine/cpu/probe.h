// What this machine can do at best, measured: the two limits that no kernel passes.
#pragma once

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Limits {
  int threads = 1;         // as many as kernels may use
  double flops = 0;        // per second: fused multiply-adds on the widest vectors, all in registers
  double bytes = 0;        // per second: a = s a + b over memory that does not fit into the second cache; 3 numbers move for each
  double flops_of_one = 0, bytes_of_one = 0;  // the same with one thread
};

Limits measure_limits();  // takes about a third of a second, and 24 MiB for as long

}  // namespace GLASS_PRECISION
}  // namespace glass
