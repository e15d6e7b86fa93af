// Work on rows, shared among threads.
#pragma once

#include <cstdint>

#include "engine/cpu/threads.h"
#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

// Where one of so many parts of [0, n) begins; it ends where the next one begins.
template <class Whole>
static inline Whole part_start(Whole n, int part, int parts) {
  return Whole(std::int64_t(n) * part / parts);
}

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
  for (int p = 0; p < pieces; ++p) part(part_start(n, p, pieces), part_start(n, p + 1, pieces));
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
