// Functions for a debugger to call; nothing else calls them. They print to standard output and throw nothing.
//
//   (gdb) call glass::f64::dbg::why(tape, "dW_q[1,2]")
#pragma once

#include <string>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace dbg {

// Explains an entry of a value or of a gradient, as --why does. Every number of the tape stays as it is.
void why(Tape&, const char* what);
void why_deep(Tape&, const char* what, int depth, int top);  // so many steps along the tape, so many parts of each sum
std::string why_text(Tape&, const char* what, int depth, int top);  // what these print; an error is text, too

}  // namespace dbg
}  // namespace GLASS_PRECISION
}  // namespace glass
