// One entry explained in words and columns: for a lesson's page, for --step, and for a debugger.
#pragma once

#include <string>

#include "engine/entry.h"
#include "engine/why.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct WhyTeller {
  explicit WhyTeller(Tape& t) : tape(t) {}
  virtual ~WhyTeller() = default;

  std::string tell(const Entry&);  // lines of at most 80 columns, if the names are short. Throws like why_gradient

  Tape& tape;
  int depth = 1;   // how many steps along the tape: 2 explains the parts, too
  int top = 8;     // so many parts of each sum, the largest; the rest is one line
  bool ok = true;  // false: something that tell() told so far does not add up, or a rule is not what differences say

 protected:
  virtual std::string words(const Entry&) const { return ""; }       // "cat, mat": what the row and the column are called
  virtual std::string arithmetic(const Entry&) const { return ""; }  // "0.5·2 + 1·3", behind a value; "": the name of the op

 private:
  std::string name(const Entry& e) const { return entry_name(tape, e); }
  std::string words_behind(const std::string& row, const Entry&) const;
  std::string parts(const Why&, int level);
  std::string gradient(const Why&, int level);
  std::string value(const Why&, int level);
  std::string deeper(const Why&, const WhyTerm&, int level);
  std::string sum_line(const Why&, int level);
  std::string local_line(const Why&);
};

}  // namespace GLASS_PRECISION
}  // namespace glass
