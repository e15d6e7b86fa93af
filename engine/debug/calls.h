// What the debugger's commands ask a living program to compute. Nothing else calls these. All have the type of GlassQuestion::ask
// (engine/hooks.h); the text stays until the next call.
#pragma once

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// The verdict of gradient_gap() (engine/gradcheck.h) on line `id` of a tape that was swept from `root`, in words. `now`: the
// line whose op is at work, or -1.
const char* debug_checkgrad(void* tape, int root, int id, int now, int);

}  // namespace GLASS_PRECISION
}  // namespace glass
