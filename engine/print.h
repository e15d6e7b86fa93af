// Matrices and tapes as text: labelled, aligned at the decimal point, shaded on a terminal.
// These functions only read; colour, width and characters are in Style, which the caller decides.
#pragma once

#include <string>
#include <vector>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct Style {
  int digits = 4;      // after the decimal point
  int width = 80;      // columns of the terminal
  bool color = false;  // shade the cells
  bool ascii = false;  // no character beyond ASCII
};

// One matrix of a figure. Blocks side by side share the row labels of the first.
struct Block {
  std::string title;                // "Q  %7  6 x 3"
  Mat values;                       // host memory
  std::vector<std::string> rows;    // labels; empty: 0, 1, 2, ...
  std::vector<std::string> cols;
  std::string extra_title;          // one more column after a bar, say the sum of each row
  std::vector<double> extra;
  std::vector<std::string> footer;  // lines below
  std::vector<bool> hidden;         // row by row: true is drawn as a dot, not as 0.0000; empty: nothing is hidden
};

// Side by side where they have the same rows and fit into style.width, else one below the other; a block that is too wide alone is cut
// into bands of columns, and one of more than 1000 entries shows 3 rows and columns of each edge.
std::string figure(const std::vector<Block>&, const Style&);

std::string number(double x, int digits);            // "0.2500", "-inf", "nan"; never "-0.0000"
std::string tape_table(const Tape&, const Style&);   // every line: id, op, name, shape, inputs, value and gradient if 1 x 1
std::string to_ascii(const std::string&);            // "E = Q Kᵀ / √d" -> "E = Q K^T / sqrt d"
int display_width(const std::string&);               // columns on a terminal
std::string folded(const std::string&, int width);   // line breaks at blanks; a new line is indented like its first
std::string clip(const std::string&, int width, bool ascii);  // cut with an ellipsis

}  // namespace GLASS_PRECISION
}  // namespace glass
