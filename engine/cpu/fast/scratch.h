// Memory that a kernel needs for a moment: one block for each thread, kept and grown, so that a training step makes no heap call.
#pragma once

#include <cstddef>

#include "engine/real.h"

namespace glass {
inline namespace GLASS_PRECISION {

Real* thread_scratch(std::size_t numbers);  // 64-byte aligned; the same block each time, so one user at a time

}  // namespace GLASS_PRECISION
}  // namespace glass
