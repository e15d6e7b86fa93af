#include "engine/debug/calls.h"

#include <cfenv>
#include <cstdio>
#include <exception>

#include "engine/gradcheck.h"
#include "engine/print.h"
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

const char* debug_trap(void*, int on, int, int, int) {
  bool done = false;
#ifdef __GLIBC__  // feenableexcept is its own; some processors have no such trap, then it says -1
  std::feclearexcept(FE_INVALID);
  done = (on ? feenableexcept(FE_INVALID) : fedisableexcept(FE_INVALID)) != -1;
#endif
  answer = !done ? "this system has no such trap: use `break glass_nonfinite`"
         : on    ? "the instruction that makes a NaN stops the program now (SIGFPE)"
                 : "a NaN stops nothing now";
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

std::string dbg::show_text(Tape& tape, const char* matrix) {
  try {
    const Entry e = find_entry(tape, std::string(matrix) + "[0,0]");
    const Node& n = tape.nodes[std::size_t(e.line)];
    if (e.gradient && !n.grad.data) return label(tape, e.line) + " has no gradient\n";
    const HostView values(tape.be, e.gradient ? n.grad : n.value);
    Block block;
    block.title = (e.gradient ? " d" : " ") + line_name(tape, e.line) + "  " + to_text(n.value.rows, n.value.cols);
    block.values = values;
    return figure({block}, {});
  } catch (const std::exception& e) {
    return std::string("show ") + e.what() + "\n";
  }
}

std::string dbg::check_text(Tape& tape, const char* line) {
  try {
    const Entry e = find_entry(tape, std::string(line) + "[0,0]");
    int root = int(tape.nodes.size()) - 1;  // of the sweep: the last line that it reached
    while (root >= 0 && !tape.nodes[std::size_t(root)].reached) --root;
    if (root < 0 || !tape.nodes[std::size_t(e.line)].grad.data) return label(tape, e.line) + " has no gradient\n";
    return std::string(debug_checkgrad(&tape, root, e.line, -1, 0)) + "\n";
  } catch (const std::exception& e) {
    return std::string("check ") + e.what() + "\n";
  }
}

static void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void dbg::tape(const Tape& t) { print(tape_table(t, {})); }
void dbg::show(Tape& tape, const char* matrix) { print(show_text(tape, matrix)); }
void dbg::check(Tape& tape, const char* line) { print(check_text(tape, line)); }
void dbg::why_deep(Tape& tape, const char* what, int depth, int top) { print(why_text(tape, what, depth, top)); }

}  // namespace GLASS_PRECISION
}  // namespace glass
