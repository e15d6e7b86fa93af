// Which leaves did the last backward() not reach, and where does the path from each of them end?
#pragma once

#include <string>
#include <vector>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Unreached {
  int leaf;          // a parameter or an input that wants a gradient and has none
  int end;           // the last line on its way (leaf itself if nothing uses it)
  int cut = -1;      // a line that uses `end` but passes no gradient on (detach), or -1
  std::string text;  // one sentence for a person
};

// Call it after backward().
std::vector<Unreached> unreached(const Tape&);

}  // namespace GLASS_PRECISION
}  // namespace glass
