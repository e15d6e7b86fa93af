// Theme J: dropout and random numbers. Each test is named after its case.
#include <limits>

#include "engine/ops.h"
#include "layers/dropout.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("J01 dropout with p = 1 gives zeros, with p = 0 the input, forward and backward") {
  Rng rng(1);
  const Matrix x = random_matrix({5, 6}, rng), dy = random_matrix({5, 6}, rng);
  for (bool as_layer : {true, false}) {
    for (double p : {0.0, 1.0}) {
      CAPTURE(as_layer, p);
      Dropout drop(p, rng);
      Tape tape;
      const Var X = tape.input(x, "x");
      const Var y = as_layer ? drop(X) : dropout(X, p, 7);
      tape.backward(y, dy);
      if (p == 0) {
        CHECK(bit_difference(y.value(), x) == "");
        CHECK(bit_difference(X.grad(), dy) == "");
      } else {
        CHECK(all_zero(y.value()));
        CHECK(all_zero(X.grad()));
      }
    }
  }
}

TEST_CASE("J01 with p = 1 even an infinity or a NaN is dropped") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Rng rng(1);
  Dropout drop(1, rng);
  Tape tape;
  tape.watch_nonfinite = false;
  const Var x = tape.input(Matrix{{inf, nan, 1}}, "x");
  const Var y = drop(x);
  tape.backward(y, Matrix{{1, 2, nan}});
  CHECK(all_zero(y.value()));
  CHECK(all_zero(x.grad()));
}

TEST_CASE("J02 a probability out of range is an error that names it") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  Rng rng(1);
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x");
  for (double p : {-0.1, 1.5, nan, inf}) {
    CAPTURE(p);
    CHECK_THROWS_AS(Dropout(p, rng), InputError);
    CHECK_THROWS_WITH(Dropout(p, rng), ContainsSubstring(to_text(p)));
    CHECK_THROWS_AS(dropout(x, p, 7), InputError);
    CHECK_THROWS_WITH(dropout(x, p, 7), ContainsSubstring(to_text(p)));
  }
}
