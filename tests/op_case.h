// One row for each op of engine/ops.h. From a row engine/op_checks.cpp derives every check that an op must pass,
// so a new op is tested by writing one builder, one naive reference and one row in op_cases.cpp.
#pragma once

#include <string>
#include <vector>

#include "engine/ops.h"
#include "tests/op_reference.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct OpCase {
  const char* name;                 // the op, and after a comma what is special: "attention, masked"
  std::vector<std::string> shapes;  // rows and columns of each input, as letters: "RC" is R x C, "1C" is 1 x C
  Var (*build)(const Var* x);       // records the op
  Table (*reference)(const Table* x);

  // Where an op needs more than that.
  Var (*wrong)(const Var* x) = nullptr;  // a mask or an index that does not fit: must throw ShapeError
  void (*prepare)(Mat x) = nullptr;      // changes the random inputs, here to hard ones
  char never_zero = 0;                   // the letter of a size that must not be 0
  bool constant = false;                 // no gradient goes through

  std::string op() const;  // the name up to the comma
};

const std::vector<OpCase>& op_cases();

// The letters as numbers. No two of them are alike, so that a mix-up of rows and columns does not fit.
struct Sizes {
  int R = 3, C = 5, K = 4, M = 6;

  int& of(char letter);
  std::vector<Shape> shapes(const OpCase&) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
