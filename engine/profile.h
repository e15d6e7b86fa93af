// Where the time of a step goes: a stopwatch around every op of a tape.
//
//   Profile profile;
//   tape.profile = &profile;        // null switches it off again; what it saw stays
//   ... record or replay, backward, as often as you like: the same line of the tape is the same line here ...
//   write(profile.table(measure_limits(), {}));
//
// A line that is run several times counts with its fastest run: a busy machine only ever adds time. The lines inside a
// recompute block are lines of their own, and are not counted again in the line that ran them.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "engine/cpu/probe.h"
#include "engine/print.h"
#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Profile {
  struct Side {                    // forward or backward of a line
    long calls = 0;
    double total = 0, least = 0;   // nanoseconds, without the lines inside; least: of one call
    Cost cost;                     // of one call
    double ns(long steps) const { return double(calls) * least / double(steps > 0 ? steps : 1); }  // of one step
  };
  struct Line {
    const char* op;
    int id, parent;                // %id; the place in `lines` of the recompute that ran it, or -1
    std::string name, scope;
    Where where;
    Side forward, backward;
    double ns(long steps) const;    // of one step, each call at its fastest
    Cost cost(long steps) const;    // of one step
  };
  struct Total {                   // all lines of one op, in one step
    std::string op;
    double calls = 0, ns = 0;
    Cost cost;
  };

  Profile();
  void forward(Op&, Step&);        // called by the tape instead of the op's own
  void backward(Op&, Step&);
  void clear();

  long runs() const;               // steps that were seen: the most calls of one line
  double ns() const;               // of one step, in ops
  Cost cost() const;
  std::vector<Total> by_op() const;     // the slowest first
  std::vector<Line> by_time() const;    // likewise
  // What an op reached, beside what the machine can do. Measured numbers, no two runs alike. most: of the tape's lines.
  std::string table(const Limits&, const Style&, int most = 20) const;

  std::vector<Line> lines;         // in the order in which they first ran
  double step_ns = 0;              // of a whole step at its fastest, if whoever ran it timed it, better without a profile

 private:
  struct Inside;
  int line_of(const Op&, const Step&);
  void run(Op&, Step&, Pass);
  std::map<std::tuple<int, int, const char*, int, int>, int> places_;  // parent, id, op, shape: a tape may be recorded anew
  int current_ = -1;               // the line that is running
  double inside_ = 0;              // ns that lines inside it took
  double clock_ = 0;               // ns that reading the clock takes
};

}  // namespace GLASS_PRECISION
}  // namespace glass
