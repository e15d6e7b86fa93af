// What a debugger asks a living program to compute; nothing else calls these.
#pragma once

#include <string>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// For the commands of glass_gdb.py and glass_lldb.py. They have the type of GlassQuestion::ask (engine/hooks.h), throw nothing, and
// their text stays until the next call.

// The verdict of gradient_gap() (engine/gradcheck.h) on line `id` of a tape that was swept from `root`, in words. `now`: the
// line whose op is at work, or -1.
const char* debug_checkgrad(void* tape, int root, int id, int now, int);

// Explains an entry of the value (gradient 0) or of the gradient (1) of line `id`, as --why does.
const char* debug_why(void* tape, int id, int row, int col, int gradient);

// From here on (on 1) the instruction that makes a NaN out of other numbers stops the program: signal SIGFPE. 0: no longer.
const char* debug_trap(void* tape, int on, int, int, int);

// For any other debugger: prints to standard output.
//
//   (gdb) call glass::f64::dbg::why(tape, "dW_q[1,2]")
namespace dbg {
void tape(const Tape&);                // every line
void show(Tape&, const char* matrix);  // "A", "dA", "%7"
void check(Tape&, const char* line);   // its gradient against central differences, after a sweep
void why(Tape&, const char* what);
void why_deep(Tape&, const char* what, int depth, int top);  // so many steps along the tape, so many parts of each sum
std::string why_text(Tape&, const char* what, int depth, int top);  // what these print; an error is text, too
std::string show_text(Tape&, const char* matrix);
std::string check_text(Tape&, const char* line);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
