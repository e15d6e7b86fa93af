// GLASS_KERNELS=fast or plain, for every program that this library is linked into.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/cpu/fast.h"

namespace glass {
inline namespace GLASS_PRECISION {

static bool choose_by_environment() {
  const char* wish = std::getenv("GLASS_KERNELS");
  if (wish && std::strcmp(wish, "fast") == 0) choose_cpu(fast_cpu());
  return true;
}
static const bool chosen = choose_by_environment();

}  // namespace GLASS_PRECISION
}  // namespace glass
