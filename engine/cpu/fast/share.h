// Work on rows, shared among threads.
#pragma once

#include <cstdint>

#include "engine/cpu/openmp.h"
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

// Pieces of work for a team, in as many heaps as it has threads. A thread takes its own first, so that from one kernel to the
// next the same rows meet the same core and its cache; then it helps the others: a disturbed core takes fewer.
struct Heaps {
  static constexpr int kMost = 64;
  struct alignas(64) Next {  // on a cache line of its own
    int piece;
  };
  Next next[kMost];
  int pieces, heaps;

  void fill(int n, int threads) {
    pieces = n;
    heaps = threads < kMost ? threads : kMost;
    for (int h = 0; h < heaps; ++h) next[h].piece = part_start(pieces, h, heaps);
  }
  int take(int heap) {
    int piece;
#pragma omp atomic capture
    piece = next[heap].piece++;
    return piece < part_start(pieces, heap + 1, heaps) ? piece : -1;
  }
  template <class Part>
  void work(Part part) {  // every thread of the team calls it
    const int mine = openmp_thread();
    for (int h = 0; h < heaps; ++h)
      for (int piece = take((mine + h) % heaps); piece >= 0; piece = take((mine + h) % heaps)) part(piece);
  }
};

// Calls part(first, last) for pieces of [0, n) until all are done; work: FLOPs, or numbers moved, of one of the n.
// Which thread takes a piece is left open, so a part may only write what belongs to its own rows.
template <class Part>
static inline void share(int n, double work, Part part) {
  const int t = threads_for(n * work);
  if (t == 1 || n < 2) {
    part(0, n);
    return;
  }
  Heaps heaps;
  heaps.fill(n < 4 * t ? n : 4 * t, t);
#pragma omp parallel num_threads(t)
  heaps.work([&](int p) { part(part_start(n, p, heaps.pieces), part_start(n, p + 1, heaps.pieces)); });
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
