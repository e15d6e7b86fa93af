// Multi-token attention: what needs no numbers from elsewhere.
#include "layers/attention/multi_token.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

TEST_CASE("multi-token: only where both letters are near does the score double") {
  Tape tape;
  Matrix S(Shape{12, 12}), twos(Shape{2, 3});
  S(10, 1) = S(10, 8) = S(11, 2) = S(11, 5) = 1;
  tape.be.fill(twos, 2);
  const Var C = conv2d_causal(tape.input(S, "S"), tape.input(twos, "w"));
  CHECK(bit_difference(C.value().block(11, 0, 1, 12), Matrix{{2, 4, 4, 2, 2, 2, 2, 2, 2, 2, 0, 0}}) == "");
}

TEST_CASE("multi-token: the published number of parameters") {
  long numbers = 0;
  for (int layer = 0; layer < 24; ++layer) {
    ParamStore store;
    Rng rng(1);
    const bool conv = layer % 4 == 2;
    MultiToken(store, "", 16, 96, rng, {.scores_kernel = conv, .weights_kernel = conv});
    for (const Param& p : store.all) numbers += long(count(p.value.shape()));
  }
  CHECK(numbers == 29592);
}

TEST_CASE("multi-token: sizes that do not fit are errors") {
  Tape tape;
  Rng rng(1);
  ParamStore store;
  const Var X = tape.input(Matrix(Shape{4, 6}), "X"), Z = tape.input(Matrix(Shape{5, 6}), "Z");
  const Var w = tape.input(Matrix(Shape{3, 3}), "w"), even = tape.input(Matrix(Shape{2, 4}), "even"),
            H = tape.input(Matrix(Shape{2, 3}), "H");
  CHECK_THROWS_AS(multi_token(X, X, X, {.heads = 2}, {.scores_kernel = w}), ShapeError);
  CHECK_THROWS_AS(multi_token(X, X, X, {.heads = 2}, {.scores_kernel = even}), ShapeError);
  CHECK_THROWS_AS(multi_token(X, X, X, {.heads = 2}, {.weights_mix = H}), ShapeError);
  CHECK_THROWS_AS(multi_token(X, Z, Z, {.heads = 3}, {.scores_kernel = w}), ShapeError);
  CHECK(multi_token(X, Z, Z, {.heads = 2}, {}).shape() == Shape{4, 6});  // nothing looks back: any number of keys
  MultiTokenPast past;
  CHECK_THROWS_AS(multi_token(X, Z, Z, {.heads = 2}, {}, &past), ShapeError);
  CHECK_THROWS_AS(MultiToken(store, "", 4, 2, rng, {.c_k = 4}), ShapeError);
  CHECK_THROWS_AS(MultiToken(store, "", 4, 2, rng, {.c_h = 3}), ShapeError);
  CHECK(store.all.empty());
}
