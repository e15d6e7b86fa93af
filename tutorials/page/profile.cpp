// --profile: where a step of the lesson goes.
#include <chrono>
#include <limits>

#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

static double now() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Forward and back on the same memory, with the seed of the lesson, for a third of a second. In turn without the stopwatch
// (that is the time of the whole step) and with it.
void Page::run_again() {
  const bool back = root_.tape == &tape && root_.id < int(tape.nodes.size()) && tape.nodes[std::size_t(root_.id)].age == root_.age;
  const bool watched = tape.watch_nonfinite;
  tape.watch_nonfinite = false;
  double least = std::numeric_limits<double>::infinity();
  const double end = now() + 3e8;
  for (int round = 0; round < 3 || now() < end; ++round) {
    for (Profile* p : {static_cast<Profile*>(nullptr), &profile_}) {
      tape.profile = p;
      const double start = now();
      tape.replay();
      if (back) tape.backward(root_, seed_);
      if (!p) least = std::min(least, now() - start);
    }
  }
  tape.profile = nullptr;
  tape.watch_nonfinite = watched;
  profile_.step_ns = least;
}

void Page::profile() {
  const bool own = !profile_.lines.empty();
  if (!own) run_again();
  if (profile_.lines.empty()) {
    say("\nWhere a step goes:\n   no op is on the page's tape; the lesson uses tapes of its own.");
    return;
  }
  say(std::string("\nWhere a step goes: ") + (own ? "the lesson's own" : "the tape above, replayed and swept again") + ", kernels: " + tape.be.name() +
      " (measured, not checked)");
  put(spelled(profile_.table(measure_limits(), style(), options.verbose ? std::numeric_limits<int>::max() : 20)));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
