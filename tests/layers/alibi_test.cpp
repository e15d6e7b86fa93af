// ALiBi: the published slopes, ten digits, PyTorch, and the grid.
#include "layers/positional/alibi.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/relative_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

TEST_CASE("alibi: the slopes of one to twelve heads") {
  CHECK(alibi_slopes(1) == std::vector<double>{0.00390625});
  CHECK(alibi_slopes(2) == std::vector<double>{0.0625, 0.00390625});
  CHECK(alibi_slopes(4) == std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625});
  CHECK(alibi_slopes(8) == std::vector<double>{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625});
  const double more[] = {std::exp2(-0.5), std::exp2(-1.5), std::exp2(-2.5),
                         std::exp2(-3.5)};  // 0.707, 0.354, 0.177, 0.088
  const std::vector<double> twelve = alibi_slopes(12);
  REQUIRE(twelve.size() == 12);
  for (int h = 0; h < 8; ++h) CHECK(twelve[std::size_t(h)] == alibi_slopes(8)[std::size_t(h)]);
  for (int h = 0; h < 4; ++h) CHECK(twelve[std::size_t(8 + h)] == Approx(more[h]).epsilon(1e-14));
  double sum = 0;
  for (const double m : alibi_slopes(8)) sum += m;
  CHECK(sum == 0.99609375);
  CHECK(alibi_slopes(3).size() == 3);
}

TEST_CASE("alibi: values to ten digits, and decoding row by row") {
  const Mask causal = Mask::causal(5, 5);
  const Alibi alibi;
  FiveTokens run(alibi, &causal, 2);  // the first of two heads: slope 0.0625
  CHECK(difference(run.Y.value().block(4, 0, 1, 3), Matrix{{0.0805454879, -0.1911017720, 0.0785073078}}) == "");
  check_decoding(alibi);
}

TEST_CASE("alibi: m (j - i) and m j are the same under softmax") {
  const Mask causal = Mask::causal(5, 5);
  FiveTokens run(Alibi{}, &causal, 2);
  Matrix column(Shape{5, 5});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) column(i, j) = Real(0.0625 * j);
  Tape& tape = run.tape;
  const Var Y = mix(add(scaled_scores(run.Q, run.K, 0.5), tape.constant(column, "m j")), run.V, {.allowed = &causal});
  CHECK(difference(Y.value(), run.Y.value(), kRounding) == "");
}

TEST_CASE("alibi: keys on both sides lose alike, and each head has its own slope") {
  Tape tape;
  const Var Q = tape.input(Matrix(Shape{3, 4}), "Q"), K = tape.input(Matrix(Shape{3, 4}), "K"),
            V = tape.input(identity(3), "V");
  const Matrix first(Alibi()(Q, K, V, {.head = 0, .heads = 4}).value()),
      last(Alibi()(Q, K, V, {.head = 3, .heads = 4}).value());
  CHECK(bit_difference(first.view().block(1, 0, 1, 1), first.view().block(1, 2, 1, 1)) == "");
  CHECK(double(first(0, 0)) / double(first(0, 2)) == Approx(std::exp(2 * 0.25)).epsilon(1e-5));
  CHECK(double(last(0, 0)) / double(last(0, 2)) == Approx(std::exp(2 * 0.00390625)).epsilon(1e-5));
  CHECK_THROWS_AS(Alibi()(Q, K, V, {.head = 4, .heads = 4}), ShapeError);
}

TEST_CASE("alibi: as in PyTorch, with fewer queries than keys") { check_against_torch(Alibi(), "alibi"); }

TEST_CASE("alibi: over masks, batches, heads and lengths") {
  check_variant(Alibi());
  check_hidden_nan(Alibi());
}
