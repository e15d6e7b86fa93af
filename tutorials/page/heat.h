// Matrices as shades and rows of numbers as small bars, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "engine/print.h"

namespace glass {
inline namespace GLASS_PRECISION {

// A square cell, two columns wide, for each entry; the labels of the columns stand upright above them. Beside each row its bars and
// its largest entry. On a colour terminal blue is positive and orange negative; else ░▒▓█; in ASCII " .:-=+*#%@".
// Hidden entries and -inf are hatched, nan and +inf are "!!". A matrix that does not fit is drawn by the means of blocks, and says so.
struct HeatMap {
  std::string title;
  Mat values;  // host memory
  std::vector<std::string> rows, cols;
  std::vector<bool> hidden;  // as in Block
  bool weights = false;      // the scale is 0 to 1; else it is centred on 0, from -largest to largest, and every cell has its sign
};
std::string heat_map(const HeatMap&, const Style&);

// ▁▂▃▄▅▆▇█ from the smallest to the largest; in ASCII "_.-=+*#@". At most `most` characters: each the mean of its part.
std::string sparkline(const std::vector<double>&, int most, const Style&);

}  // namespace GLASS_PRECISION
}  // namespace glass
