// The tape as a drawing: --dot for Graphviz, --svg by a layout of our own, which needs nothing.
#pragma once

#include <string>
#include <vector>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// DOT text: one box for each line of the tape, with op, name, shape and the place where it was recorded.
std::string tape_dot(const Tape&, const std::string& title);

// A picture of the same, for light and dark pages. `about` is for those who cannot see it. Text from outside is escaped.
std::string tape_svg(const Tape&, const std::string& title, const std::string& about);

// Where everything goes: layers from the top, each line below all that it reads; leaves just above the first line that reads them.
struct Place {
  int layer = 0;
  double x = 0;      // of the middle
  double width = 0;  // 0: a bend of an edge that passes through this layer
};
struct Edge {
  std::vector<int> through;  // places, from a line that is read down to its reader
};
struct Drawing {
  std::vector<Place> places;  // line i of the tape is place i; bends follow
  std::vector<Edge> edges;
  int layers = 0;
  double width = 0;
};
Drawing layout(const Tape&, double box, double gap);

// What the boxes say.
struct BoxText {
  std::string head, shape, source;  // `%9 softmax  "A"`, `6 x 6`, `softmax.cpp:24`
  const char* kind;                 // "input", "constant", "param", "op", "view": its colour
};
BoxText box_text(const Tape&, int id);

}  // namespace GLASS_PRECISION
}  // namespace glass
