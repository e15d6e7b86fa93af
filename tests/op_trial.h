// One op on a tape of its own, as its row in op_cases.cpp describes it.
#pragma once

#include "tests/compare.h"
#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

Matrix away_from_zero(Shape, Rng&);  // random, of both signs, from 0.5 to 2: may be divided by
Table table_of(Mat);
Matrix matrix_of(const Table&);

std::vector<Matrix> inputs_of(const OpCase&, const std::vector<Shape>&);  // the same numbers every time

struct Trial {
  Tape tape;
  std::vector<Matrix> values;
  std::vector<Var> x;
  Var y;
  Matrix seed;  // random: a sum is blind for softmax, whose rows add up to 1 anyway

  explicit Trial(const OpCase& c) : Trial(c, Sizes().shapes(c)) {}
  Trial(const OpCase& c, const std::vector<Shape>& shapes) : Trial(c, shapes, ~c.targets) {}
  // Input i wants a gradient if bit i of `wanted` is set.
  Trial(const OpCase&, const std::vector<Shape>&, unsigned wanted, Backend& = cpu_backend());
  Matrix reference(const OpCase&) const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
