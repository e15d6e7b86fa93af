// The widths that this kind of processor may have: widths_x86.cpp, or widths_any.cpp with the smallest alone.
#pragma once

#include <vector>

#include "engine/backend.h"
#include "engine/cpu/ladder.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Width {
  int bytes;
  bool here;  // this processor has it
  Backend& (*backend)();
  const Ladder& (*ladder)();
};
const std::vector<Width>& widths();

}  // namespace GLASS_PRECISION
}  // namespace glass
