#include "engine/cpu/fast/fast.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

const char* FastCpu::name() const { return "fast cpu"; }

Backend& backend() {
  static FastCpu fast;
  return fast;
}

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
