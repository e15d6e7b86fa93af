// Which width of vectors: the widest that was built and that the processor has.
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/cpu/fast.h"
#include "engine/cpu/fast/widths.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

Backend* fast_cpu(int vector_bytes) {
  for (const Width& w : widths())
    if (w.bytes == vector_bytes && w.here) return &w.backend();
  return nullptr;
}

static Backend& widest() {
  if (const char* wish = std::getenv("GLASS_VECTORS"); wish && *wish) {
    Backend* be = fast_cpu(std::atoi(wish));
    if (!be) throw InputError(std::string("GLASS_VECTORS: there are no kernels for vectors of \"") + wish + "\" bytes on this processor (16, 32 or 64)");
    return *be;
  }
  for (int bytes = 64; bytes > 16; bytes /= 2)
    if (Backend* be = fast_cpu(bytes)) return *be;
  return *fast_cpu(16);
}

Backend& fast_cpu() {
  static Backend& best = widest();
  return best;
}

const Ladder& matmul_ladder() {
  for (const Width& w : widths())
    if (w.here && &w.backend() == &fast_cpu()) return w.ladder();
  return widths().front().ladder();
}

}  // namespace GLASS_PRECISION
}  // namespace glass
