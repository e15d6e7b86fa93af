// Built in place of json.cpp where nlohmann-json is not installed.
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::string Page::json() const {
  throw InputError("--json: this build was made without nlohmann-json, which is optional; install it (Debian: "
                   "nlohmann-json3-dev) and run again");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
