#include "engine/cpu/fast/widths.h"

namespace glass {
inline namespace GLASS_PRECISION {

namespace v16 { Backend& backend(); const Ladder& ladder(); }  // the compiler makes of it what the processor has

const std::vector<Width>& widths() {
  static const std::vector<Width> all = {{16, true, v16::backend, v16::ladder}};
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
