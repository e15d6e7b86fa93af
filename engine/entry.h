// One number of a tape, as a person writes it: "A[0,3]", "dW_q[1,2]", "%7[0,1]", "d%7[0,1]", and "L" or "dx" if it is alone.
#pragma once

#include <string>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Entry {
  int line = -1;
  bool gradient = false;
  int row = 0, col = 0;
};

// A name is that of the last line called so. "dfoo" is a line of that name if there is one, else the gradient of foo: of the last
// foo that has one, if any has. Throws InputError: no such line (with the nearest name), no such entry, not an entry at all.
Entry find_entry(const Tape&, const std::string& what);

std::string line_name(const Tape&, int line);          // "Q", or "%4" for a line without a name
std::string entry_name(const Tape&, const Entry&);     // "dQ[1,2]"; of a 1 x 1 line "dL"

}  // namespace GLASS_PRECISION
}  // namespace glass
