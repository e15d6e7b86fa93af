// The NaN story: where was the first value born that is not finite, of which operands, and why?
//
// A value is only noted when it is born; it is an error when it reaches the root of backward() or turns up in
// a gradient, because an overflow that a mask or a where() leaves out does no harm. The -inf of a mask is meant.
#pragma once

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct BadEntry {
  int row = -1, col = -1;  // row < 0: every entry is finite
  double value = 0;
};
BadEntry first_bad_entry(const Tape&, Mat, bool minus_inf_is_fine);

// Throws NonFiniteError: the story of the first line that went bad, and how it reached `root`.
[[noreturn]] void throw_nonfinite(const Tape&, int root);

}  // namespace GLASS_PRECISION
}  // namespace glass
