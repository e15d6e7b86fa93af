// Memory that a kernel needs for a moment: kept and grown, so that a training step makes no heap call.
#pragma once

#include <cstddef>

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Who needs it: blocks that are in use at the same time have different names.
enum class Scratch { columns, rows, attention, sums, count };

Real* thread_scratch(Scratch, std::size_t numbers);  // each thread has its own; 64-byte aligned; what stood there may be gone

}  // namespace GLASS_PRECISION
}  // namespace glass
