#include "engine/debug_calls.h"

#include <cstdio>

#include "engine/why_text.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace dbg {

[[gnu::noinline, gnu::used]] void why_deep(Tape& tape, const char* what, int depth, int top) {
  try {
    WhyTeller teller(tape);
    teller.depth = depth;
    teller.top = top;
    std::fputs(teller.tell(find_entry(tape, what)).c_str(), stdout);
    if (!teller.ok) std::puts("   (In the middle of a sweep not every part has arrived yet.)");
  } catch (const std::exception& e) {  // must not pass through the frames of the program that is being debugged
    std::printf("why %s\n", e.what());
  }
  std::fflush(stdout);
}

[[gnu::noinline, gnu::used]] void why(Tape& tape, const char* what) { why_deep(tape, what, 1, 8); }

}  // namespace dbg
}  // namespace GLASS_PRECISION
}  // namespace glass
