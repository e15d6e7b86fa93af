// Built without nlohmann-json.
#include "engine/errors.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::string Page::verdict_by_reference(Var) {
  throw InputError("--reference reads JSON: install nlohmann-json (Debian: nlohmann-json3-dev) and build again");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
