// Learned positions and stretched tables: by ten digits, against PyTorch, and by what they must refuse.
#include "layers/positional/learned.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("learned positions: every sequence of a batch adds its gradient to the same rows") {
  Rng rng(1);
  ParamStore store;
  const LearnedPositions positions(store, "P", 4, 2, rng);
  positions.table->set(Matrix{{1, 2}, {3, 4}, {5, 6}, {7, 8}});
  Tape tape;
  const Var X = tape.input(Matrix{{10, 0}, {20, 0}, {30, 0}, {40, 0}}, "X"), Z = positions(X, 2, 1);
  CHECK(bit_difference(Z.value(), Matrix{{13, 4}, {25, 6}, {33, 4}, {45, 6}}) == "");
  const Matrix dZ{{1, -2}, {3, 4}, {10, 20}, {30, -40}};
  tape.backward(Z, dZ);
  CHECK(bit_difference(X.grad(), dZ) == "");
  CHECK(bit_difference(positions.table->grad, Matrix{{0, 0}, {11, 18}, {33, -36}, {0, 0}}) ==
        "");  // 0 and 3 were not used
  CHECK(gradient_gap(tape, Z, dZ, tape.find("P")).ok());
}

TEST_CASE("learned positions: a position that the table does not have is refused") {
  Rng rng(2);
  ParamStore store;
  const LearnedPositions positions(store, "P", 3, 2, rng);
  Tape tape;
  const Var four = tape.input(Matrix(Shape{4, 2}), "X"), three = tape.input(Matrix(Shape{3, 2}), "X");
  CHECK(positions(three).shape() == Shape{3, 2});
  CHECK(positions(four, 2, 1).shape() == Shape{4, 2});
  const std::size_t before = tape.nodes.size();
  CHECK_THROWS_AS(positions(four), ShapeError);
  CHECK_THROWS_AS(positions(four, 2, 2), ShapeError);
  CHECK_THROWS_AS(positions(three, 1, -1), ShapeError);
  CHECK_THROWS_AS(positions(three, 1, 2147483647), ShapeError);
  CHECK_THROWS_AS(positions(three, 2), ShapeError);
  CHECK_THROWS_WITH(positions(four), ContainsSubstring("4 tokens from position 0") && ContainsSubstring("ends at 2"));
  CHECK(tape.nodes.size() == before);
}

TEST_CASE("learned positions: the table starts with mean 0 and deviation 0.02") {
  Rng rng(3);
  ParamStore store;
  const LearnedPositions positions(store, "P", 1000, 20, rng);
  double sum = 0, squares = 0;
  for (int p = 0; p < 1000; ++p)
    for (int c = 0; c < 20; ++c)
      sum += double(positions.table->value(p, c)), squares += std::pow(double(positions.table->value(p, c)), 2);
  CHECK(std::fabs(sum / 20000) < 0.001);
  CHECK(std::sqrt(squares / 20000) == Approx(0.02).epsilon(0.03));
}

TEST_CASE("stretched table: 4 rows to 6, to ten digits") {
  struct Want {
    Stretch how;
    Matrix source, column;
    double dP;
  };
  const Want wants[] = {{Stretch::half_pixel,
                         {{0, 0.5, 1.1666666667, 1.8333333333, 2.5, 3}},
                         {{0, 0.0705600040, 0.0710307570, -0.2093262472, 0.0663514935, 0.4121184852}},
                         0.150726651605},
                        {Stretch::align_corners,
                         {{0, 0.6, 1.2, 1.8, 2.4, 3}},
                         {{0, 0.0846720048, 0.0570129068, -0.1953083969, -0.0028019048, 0.4121184852}},
                         0.224186180891}};
  for (const Want& want : wants) {
    Tape tape;
    const Var P = tape.input(sines({4, 3}, 1, 3, 1), "P"), stretch = stretched(P, 6, want.how);
    for (int r = 0; r < 6; ++r) {
      CHECK(source_row(want.how, r, 4, 6) == Approx(double(want.source(0, r))).margin(kPrinted.absolute));
      CHECK(double(stretch.value()(r, 0)) == Approx(double(want.column(0, r))).margin(kPrinted.absolute));
    }
    const Matrix dY = cosines({6, 3}, 1, 2, 3, 1);
    tape.backward(stretch, dY);
    CHECK(fingerprint(P.grad()) == Approx(want.dP).epsilon(kPrinted.relative).margin(kPrinted.absolute));
    CHECK(gradient_gap(tape, stretch, dY, P).ok());
  }
}

TEST_CASE("stretched table: longer, shorter and single rows as in PyTorch") {
  const ReferenceFile torch("positions.txt");
  const int sizes[][2] = {{4, 6}, {4, 9}, {7, 3}, {5, 1}, {1, 3}, {3, 3}};
  for (const auto& [L, n] : sizes) {
    for (const Stretch how : {Stretch::half_pixel, Stretch::align_corners}) {
      const std::string name = std::string(how == Stretch::half_pixel ? "half_pixel." : "align_corners.") +
                               std::to_string(L) + "." + std::to_string(n);
      INFO(name);
      Tape tape;
      const Var P = tape.input(sines({L, 3}, 1, 3, 1), "P"), y = stretched(P, n, how);
      tape.backward(y, cosines({n, 3}, 1, 2, 3, 1));
      CHECK(difference(y.value(), torch[name]) == "");
      CHECK(difference(P.grad(), torch[name + ".dP"]) == "");
      if (L == n) CHECK(difference(y.value(), P.value(), kRounding) == "");
    }
  }
}

TEST_CASE("stretched table: no row at all is an error, no row wanted is not") {
  Tape tape;
  CHECK_THROWS_AS(stretched(tape.input(Matrix(Shape{0, 3}), "P"), 2), ShapeError);
  CHECK(stretched(tape.input(Matrix(Shape{2, 3}), "P"), 0).shape() == Shape{0, 3});
}
