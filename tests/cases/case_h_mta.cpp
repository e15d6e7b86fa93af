// Theme H: multi-token attention.
#include <cmath>

#include "layers/attention/multi_token.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("H11 multi-token attention with kernels alone passes through softmax once") {
  const Matrix scores{{1, 9, 9}, {2, 3, 9}, {0, -1, 1}};
  const Matrix once{{1, 0, 0}, {0.2689414214, 0.7310585786, 0}, {0.2447284711, 0.09003057317, 0.6652409558}};
  const Mask causal = Mask::causal(3, 3);
  Tape tape;
  // The identity as keys and as values hands the weights out; √3 takes the scale back.
  const Var Q = scale(tape.input(scores, "scores"), std::sqrt(3.0)), I = tape.constant(identity(3), "I");
  const Var w = tape.constant(Matrix{{0, 0, 0}, {0, 1, 0}}, "w");
  const Heads cut{.mask = &causal};
  const Var Y = multi_token(Q, I, I, cut, {.scores_kernel = w});
  CHECK(difference(Y.value(), once) == "");
  CHECK(difference(Y.value(), attention_steps(Q, I, I, &causal).value(), kRounding) == "");
  CHECK(difference(multi_token(Q, I, I, cut, {.weights_kernel = w}).value(), once) == "");
  CHECK(difference(multi_token(Q, I, I, cut, {.scores_kernel = w, .weights_kernel = w}).value(), once) == "");

  const Matrix twice{{1, 0, 0}, {0.3864836956, 0.6135163044, 0}, {0.2959091438, 0.2534976525, 0.4505932037}};
  CHECK(difference(softmax(hide_pairs(Y, &causal)).value(), twice) == "");
}
