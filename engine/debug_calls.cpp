#include "engine/debug_calls.h"

#include <cstdio>

#include "engine/why_text.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace dbg {

std::string why_text(Tape& tape, const char* what, int depth, int top) {
  try {
    WhyTeller teller(tape);
    teller.depth = depth;
    teller.top = top;
    const std::string text = teller.tell(find_entry(tape, what));
    return text + (teller.ok ? "" : "   (In the middle of a sweep not every part has arrived yet.)\n");
  } catch (const std::exception& e) {  // must not pass through the frames of the program that is being debugged
    return std::string("why ") + e.what() + "\n";
  }
}

[[gnu::noinline, gnu::used]] void why_deep(Tape& tape, const char* what, int depth, int top) {
  std::fputs(why_text(tape, what, depth, top).c_str(), stdout);
  std::fflush(stdout);
}

[[gnu::noinline, gnu::used]] void why(Tape& tape, const char* what) { why_deep(tape, what, 1, 8); }

}  // namespace dbg
}  // namespace GLASS_PRECISION
}  // namespace glass
