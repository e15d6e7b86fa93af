// --step: a walk along the page's tape, forward line by line and then back with the sweep. Here is what it says; how it is shown, on
// a terminal or as a transcript, is in step.cpp.
#pragma once

#include <string>
#include <vector>

#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

class Walk {
 public:
  explicit Walk(Page&);  // of the tape as it is, with the last sweep of the page, if there was one

  std::string here() const;  // the step where the walk is

  // One command, a letter and what it is about, and what to show for it:
  //   f [N], b [N]   so many steps on, back          s   to where the sweep begins      0, $   to the first, the last step
  //   j NAME         to the line NAME, or to dNAME on the way back; %7 and d%7 by number
  //   w ENTRY        why is it what it is?           n ENTRY [H]   nudge it by H (0.1), see what changes, put it back
  //   t              the whole tape                  h   these commands                 q   end
  // What is wrong with a command is said, never thrown.
  std::string command(const std::string&);

  bool over() const { return over_; }
  std::size_t at() const { return at_; }
  std::size_t steps() const { return stops_.size(); }

 private:
  struct Stop {
    int line;
    bool back;
  };
  std::string do_command(char letter, const std::string& rest);
  std::string moved(long by, bool typed);
  std::string jump(const std::string& name);
  std::string nudge(const std::string& rest);
  std::string line_text(int id) const;

  Page& page_;
  Tape& tape_;
  std::vector<Stop> stops_;
  std::size_t at_ = 0;
  bool over_ = false;
};

// Sets one entry of a value to x + h, replays what comes after it, and puts everything back.
struct Nudge {
  struct Change {
    int line, entries;  // so many numbers of that line changed
    double most;        // the largest change
  };
  struct Slope {
    double h, secant;   // (L(x + h) - L(x)) / h
  };
  double before = 0, after = 0;  // L = Σ seed ∘ root, at x and at x + h
  std::vector<Change> changes;   // of the lines after the entry's own
  std::vector<Slope> slopes;     // for h, h/10, h/100, ...
  int otherwise = -1;            // the first line that decides something and would, at x + h, decide otherwise. The replay does not
  bool restored = false;         // every value is as before, bit for bit
};
Nudge nudged(Tape&, int line, int row, int col, double h, int root, Mat seed);  // root -1: no sweep, no L

}  // namespace GLASS_PRECISION
}  // namespace glass
