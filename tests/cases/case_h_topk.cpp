// Theme H: top-k attention. The test is named after its case, and runs in the op and in the variant.
#include <limits>

#include "engine/ops.h"
#include "layers/attention/top_k.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

// The weights for one query with these scores: q = 1, so that the keys are the scores.
static Matrix weights_for(const Matrix& scores, int k, const Mask* allowed = nullptr) {
  Tape tape;
  Matrix keys(Shape{scores.cols(), 1});
  for (int j = 0; j < scores.cols(); ++j) keys(j, 0) = scores(0, j);
  std::vector<Var> weights;
  const TopK top(k);
  top(tape.input(Matrix{{1}}, "q"), tape.input(keys, "k"), tape.input(keys, "v"),
      {.allowed = allowed, .weights = &weights});
  return Matrix(weights.at(0).value());
}

TEST_CASE(
    "H10 top-k: k may be larger than the row, masked keys are never picked, ties go to the first, 0 is an error") {
  const Matrix scores{{3, 1, 2}}, all{{0.6652409558, 0.09003057317, 0.2447284711}};
  CHECK(difference(weights_for(scores, 2), Matrix{{0.7310585786, 0, 0.2689414214}}) == "");
  CHECK(difference(weights_for(scores, 3), all) == "");
  CHECK(difference(weights_for(scores, 5), all) == "");
  CHECK_THROWS_AS(weights_for(scores, 0), InputError);
  CHECK_THROWS_AS(weights_for(scores, -1), InputError);

  const Mask two_hidden = Mask::visible({false, false, true, true}, 1),
             one_left = Mask::visible({false, true, false, false}, 1);
  CHECK(difference(weights_for({{9, 1, 2, 3}}, 2, &two_hidden), Matrix{{0, 0, 0.2689414214, 0.7310585786}}) == "");
  CHECK(bit_difference(weights_for({{9, 1, 2, 3}}, 2, &one_left), Matrix{{0, 1, 0, 0}}) == "");

  CHECK(bit_difference(weights_for({{1, 2, 2, 2}}, 2), Matrix{{0, 0.5, 0.5, 0}}) == "");
  CHECK(bit_difference(weights_for({{2, 2, 2, 2}}, 1), Matrix{{1, 0, 0, 0}}) == "");

  Tape tape;  // the op itself, where nothing is left to choose
  const double inf = std::numeric_limits<double>::infinity();
  const Var nothing = top_k_mask(tape.input(Matrix{{-inf, -inf}, {-inf, 4}}, "E"), 2, 7);
  CHECK(bit_difference(nothing.value(), Matrix{{7, 7}, {7, 4}}) == "");
}
