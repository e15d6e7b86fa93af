// Work on rows, shared among threads.
#pragma once

#include <cstdint>

#include "engine/cpu/threads.h"
#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// Calls part(first, last) for pieces of [0, n) until all are done; work: FLOPs, or numbers moved, of one of the n.
// Which thread takes a piece is left open, so a part may only write what belongs to its own rows.
template <class Part>
static inline void share(int n, double work, Part part) {
  const int t = threads_for(n * work);
  if (t == 1 || n < 2) {
    part(0, n);
    return;
  }
  const int pieces = n < 4 * t ? n : 4 * t;  // several each: a disturbed core takes fewer
#pragma omp parallel for num_threads(t) schedule(dynamic, 1)
  for (int p = 0; p < pieces; ++p) part(int(std::int64_t(n) * p / pieces), int(std::int64_t(n) * (p + 1) / pieces));
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
