// What a lesson has told, step by step: for --json, and for pictures and replays that are made of it.
#pragma once

#include <string>
#include <vector>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

using Labels = std::vector<std::string>;

struct ToldMatrix {  // that is no line of the tape
  std::string name;
  Matrix values;
  Labels rows, cols;
};

struct ToldSeries {
  std::string title, name;
  std::vector<double> values;
};

struct Told {
  std::string part, name, formula, note;  // part: "Back" on the way back
  int number = 0;                         // of the heading within its part
  std::vector<int> lines, gradients;      // of the tape: those whose value, whose gradient was shown
  std::vector<ToldMatrix> matrices;
  std::vector<ToldSeries> curves;
  Labels says{}, texts{};                 // sentences; lines as the terminal shows them: spelled arithmetic, tables
  std::vector<int> checks{};              // by number, of the gradients too
};

}  // namespace GLASS_PRECISION
}  // namespace glass
