// What one op has and others have not: indices, ties, long sums, and the hints of its error messages.
#include "engine/ops.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("gather_rows refuses an index below 0") {
  Tape tape;
  const Var table = tape.input(Matrix{{1}, {2}}, "table");
  const int ids[] = {-1, 1};
  CHECK_THROWS_WITH(gather_rows(table, ids, 2), ContainsSubstring("index -1 (number 0 of the list)"));
}

TEST_CASE("weights_of refuses what attention has not made") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x");
  CHECK_THROWS_AS(weights_of(x), TapeError);
  CHECK_THROWS_AS(weights_of(softmax(x)), TapeError);
}

TEST_CASE("row_max sends the gradient of a tie to the first") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 3, 3, 3}}, "x");
  tape.backward(row_max(x));
  CHECK(bit_difference(x.grad(), Matrix{{0, 1, 0, 0}}) == "");
}

// In float, 2^24 + 1 is 2^24 again: a running sum in float would lose every 1.
TEST_CASE("sums do not lose small numbers beside a large one") {
  Tape tape;
  const Matrix row{{16777216, 1, 1, 1, 1, 1, 1, 1, 1}};
  Matrix column({9, 1});
  for (int i = 0; i < 9; ++i) column(i, 0) = row(0, i);
  CHECK(sum(tape.input(row, "x")).value()(0, 0) == 16777224);
  CHECK(row_sum(tape.input(row, "x")).value()(0, 0) == 16777224);
  CHECK(col_sum(tape.input(column, "x")).value()(0, 0) == 16777224);

  // the denominator of softmax: 1 + 4000 e^-17.5 = 1.0001
  Matrix scores({1, 4001});
  for (int j = 1; j < 4001; ++j) scores(0, j) = Real(-17.5);
  CHECK(softmax(tape.input(scores, "e")).value()(0, 0) == Approx(1 / (1 + 4000 * std::exp(-17.5))).epsilon(1e-6));
}

// ---- hints: what the author may have meant

TEST_CASE("matmul and matmul_nt name each other where the other would fit") {
  Tape tape;
  const Var a = tape.input(Matrix{{1, 2, 3}, {4, 5, 6}}, "a"), t = tape.input(Matrix{{1, 2}, {3, 4}, {5, 6}}, "t");
  const Var row = tape.input(Matrix{{1, 2}}, "row");
  CHECK_THROWS_WITH(matmul(a, a), ContainsSubstring("did you mean matmul_nt"));
  CHECK_THROWS_WITH(matmul_nt(a, t), ContainsSubstring("did you mean matmul (no transpose)"));
  CHECK_THROWS_WITH(matmul(a, row), !ContainsSubstring("did you mean"));
  CHECK_THROWS_WITH(matmul_nt(a, row), !ContainsSubstring("did you mean"));
}

TEST_CASE("a row or a column beside a matrix is told which op takes it") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2, 3}, {4, 5, 6}}, "x"), row = tape.input(Matrix{{1, 2, 3}}, "r");
  const Var column = tape.input(Matrix{{1}, {2}}, "c"), other = tape.input(Matrix{{1, 2}, {3, 4}}, "other");
  CHECK_THROWS_WITH(add(x, row), ContainsSubstring("add_row") && !ContainsSubstring("add_col"));
  CHECK_THROWS_WITH(sub(x, column), ContainsSubstring("sub_col") && !ContainsSubstring("sub_row"));
  CHECK_THROWS_WITH(add(x, other), !ContainsSubstring("say so"));
}

TEST_CASE("a mask that would fit transposed is asked about") {
  Tape tape;
  unsigned char allowed[6] = {1, 1, 1, 1, 1, 1};
  const Var x = tape.input(Matrix{{1, 2, 3}, {4, 5, 6}}, "x");
  CHECK_THROWS_WITH(mask(x, Keep{allowed, 3, 2}, 0), ContainsSubstring("is the mask transposed?"));
  CHECK_THROWS_WITH(mask(x, Keep{allowed, 1, 3}, 0), !ContainsSubstring("transposed"));
}

TEST_CASE("an index that is outside names itself, its place and the rows there are") {
  Tape tape;
  const Var table = tape.input(Matrix{{1}, {2}, {3}}, "table");
  const int ids[] = {0, 2, 7};
  CHECK_THROWS_WITH(gather_rows(table, ids, 3),
                    ContainsSubstring("index 7 (number 2 of the list)") && ContainsSubstring("its rows are 0 to 2"));
}
