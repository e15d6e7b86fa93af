// Built in place of the CUDA backend where it is switched off: callers ask at run time, nothing needs an #ifdef.
#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

Backend* cuda_backend() { return nullptr; }
const char* cuda_problem() { return "this program was built without CUDA"; }

}  // namespace GLASS_PRECISION
}  // namespace glass
