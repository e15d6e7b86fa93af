#include "engine/debug/calls.h"

#include <cstdio>
#include <exception>

#include "engine/gradcheck.h"
#include "engine/why_text.h"

namespace glass {
inline namespace GLASS_PRECISION {

static std::string answer;

static std::string verdict(const GradGap& gap) {
  char text[300];
  if (gap.ok()) {
    std::snprintf(text, sizeof text, "agrees with central differences in %ld of %ld entries, worst gap %.1e (< %.0e)",
                  gap.checked, gap.entries, gap.worst, gradient_tolerance());
  } else {
    std::snprintf(text, sizeof text,
                  "DOES NOT AGREE with central differences, worst gap %.1e (allowed %.0e)\n"
                  "  at [%d,%d]: %.6g by the tape, %.6g by differences",
                  gap.worst, gradient_tolerance(), gap.row, gap.col, gap.taped, gap.numeric);
  }
  return text;
}

const char* debug_checkgrad(void* of, int root, int id, int now, int) {
  Tape& tape = *static_cast<Tape*>(of);
  try {
    const Var top = tape.var(root);
    const HostView seed(tape.be, top.grad());  // the gradient of the root is the seed
    answer = "the gradient of " + label(tape, id) + " ";
    answer += verdict(gradient_gap(tape, top, seed, tape.var(id)));
    if (now >= 0) tape.step(now);  // the op at work goes on with what it had
  } catch (const std::exception& e) {
    answer = e.what();
  }
  return answer.c_str();
}

static std::string told(Tape& tape, const Entry& entry, int depth = 1, int top = 8) {
  WhyTeller teller(tape);
  teller.depth = depth;
  teller.top = top;
  const std::string text = teller.tell(entry);
  if (text.find("DOES NOT ADD UP") == std::string::npos) return text;
  return text + "   (In the middle of a sweep not every part has arrived yet.)\n";
}

const char* debug_why(void* of, int id, int row, int col, int gradient) {
  try {
    answer = told(*static_cast<Tape*>(of), {id, gradient != 0, row, col});
  } catch (const std::exception& e) {
    answer = e.what();
  }
  return answer.c_str();
}

void dbg::why(Tape& tape, const char* what) { why_deep(tape, what, 1, 8); }

std::string dbg::why_text(Tape& tape, const char* what, int depth, int top) {
  try {
    return told(tape, find_entry(tape, what), depth, top);
  } catch (const std::exception& e) {  // must not pass through the frames of the program that is being debugged
    return std::string("why ") + e.what() + "\n";
  }
}

void dbg::why_deep(Tape& tape, const char* what, int depth, int top) {
  std::fputs(why_text(tape, what, depth, top).c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
