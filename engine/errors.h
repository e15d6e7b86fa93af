// Errors are exceptions. Their text is for a student: what happened, to which values, where, and what to try.
// None of these types mentions Real, so one handler serves both precisions.
#pragma once

#include <stdexcept>
#include <string>

namespace glass {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct ShapeError : Error {  // sizes that do not fit together
  using Error::Error;
};
struct TapeError : Error {  // the tape was used in the wrong order: a second backward, a changed value, ...
  using Error::Error;
};
struct StaleVar : TapeError {  // a handle from before a rewind
  using TapeError::TapeError;
};
struct NonFiniteError : Error {  // the first NaN or infinity that nobody meant
  using Error::Error;
};
struct InputError : Error {  // a file, an option, a number that a person gave
  using Error::Error;
};

// Where a line of the tape was recorded. As a default argument it names the caller:
//   Var softmax(Var e, Where where = {});
// (std::source_location would do, but clang 14 has none that works.)
struct Where {
  const char* file;
  int line;
  Where(const char* f = __builtin_FILE(), int l = __builtin_LINE()) : file(f), line(l) {}
};

std::string to_text(int rows, int cols);       // "3 x 4"
std::string to_text(double);                   // shortest text that a person reads easily: "0.25", "1e+30", "nan"
std::string to_text(const Where&);             // "tutorials/05_softmax.cpp:41", relative to the project
std::string entry_text(int r, int c);          // "[1,2]"

}  // namespace glass
