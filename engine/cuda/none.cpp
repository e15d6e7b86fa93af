// Built in place of the CUDA backend where it is switched off: callers ask at run time, nothing needs an #ifdef.
#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

Backend* cuda_backend() { return nullptr; }

}  // namespace GLASS_PRECISION
}  // namespace glass
