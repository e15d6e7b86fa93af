// Theme G: positions. Each test is named after its case.
#include <cmath>

#include "layers/positional/alibi.h"
#include "layers/positional/learned.h"
#include "layers/positional/rotary.h"
#include "layers/positional/sinusoidal.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;
using Pairs = Rotary::Pairs;

TEST_CASE("G01 the rotary layout is chosen by name") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2, 3, 4}}, "x");
  CHECK(difference(rotary(x, {.pairs = Pairs::interleaved, .first = 1}).value(),
                   Matrix{{-1.142639664, 1.922075597, 2.959850668, 4.029799502}}) == "");
  CHECK(difference(rotary(x, {.pairs = Pairs::half, .first = 1}).value(),
                   Matrix{{-1.984110649, 1.959900667, 2.462377902, 4.019799668}}) == "");
}

TEST_CASE("G03 rotary widths without pairs are clear errors, and a part may turn") {
  Tape tape;
  const Var five = tape.input(Matrix{{1, 2, 3, 4, 5}}, "five"), one = tape.input(Matrix{{1}}, "one"),
            none = tape.input(Matrix(Shape{3, 0}), "none");
  for (const Pairs pairs : {Pairs::interleaved, Pairs::half}) {
    CHECK_THROWS_AS(rotary(five, {.pairs = pairs}), ShapeError);
    CHECK_THROWS_AS(rotary(one, {.pairs = pairs}), ShapeError);
    CHECK_THROWS_WITH(rotary(five, {.pairs = pairs}), ContainsSubstring("5") && ContainsSubstring("dims = 4"));
    CHECK(rotary(none, {.pairs = pairs}).shape() == Shape{3, 0});
    const Var part = rotary(five, {.pairs = pairs, .first = 1, .dims = 4});
    CHECK(part.value()(0, 4) == 5);
    CHECK(part.value()(0, 0) != 1);
  }
  CHECK_THROWS_AS(RotaryAttention()(five, five, five), ShapeError);
}

TEST_CASE("G05 the first of eight ALiBi slopes is one half") {
  CHECK(alibi_slopes(8) == std::vector<double>{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625});
  CHECK(alibi_slopes(4) == std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625});
  CHECK(alibi_slopes(2) == std::vector<double>{0.0625, 0.00390625});
  CHECK(alibi_slopes(1) == std::vector<double>{0.00390625});
}

TEST_CASE("G07 a bias of relative positions knows the keys that came before") {
  Tape tape;
  const Call first_of_eight{.allowed = nullptr, .head = 0, .heads = 8};                  // slope 1/2
  const Var Q = tape.input(Matrix(Shape{3, 2}), "Q"), V = tape.input(identity(3), "V");  // scores 0; Y is the weights
  const Mask causal = Mask::causal(3, 3);
  Call masked = first_of_eight;
  masked.allowed = &causal;
  const Var P = Alibi()(Q, Q, V, masked);
  CHECK(difference(tape.find("bias").value().block(2, 0, 1, 3), Matrix{{-1, -0.5, 0}}) == "");
  CHECK(difference(P.value(),
                   Matrix{{1, 0, 0}, {0.3775406688, 0.6224593312, 0}, {0.1863237232, 0.3071958857, 0.5064803911}}) ==
        "");
  const Var cached = Alibi()(tape.rows(Q, 2, 1), Q, V, first_of_eight);
  CHECK(difference(cached.value(), Matrix{{0.1863237232, 0.3071958857, 0.5064803911}}) == "");
}

TEST_CASE("G09 an odd width ends with a sine") {
  CHECK(difference(
            sinusoidal_table(2, 5),
            Matrix{{0, 1, 0, 1, 0}, {0.8414709848, 0.5403023059, 0.02511622291, 0.9996845379, 0.0006309573026}}) == "");
}

TEST_CASE("G10 both columns of a pair have the exponent of the pair") {
  CHECK(difference(sinusoidal_table(1, 4, 2), Matrix{{0.9092974268, -0.4161468365, 0.01999866669, 0.9998000067}}) ==
        "");
  CHECK(difference(sinusoidal_table(1, 7, 3), Matrix{{0.1411200081, -0.9899924966, 0.2142321901, 0.9767827644,
                                                      0.01553779877, 0.9998792811, 0.001118277883}}) == "");
  CHECK(difference(sinusoidal_table(1, 1, 3), Matrix{{0.1411200081}}) == "");
  const Matrix wrong{{0.9092974268, 0.9800665778, 0.01999866669, 0.999998}};  // column 1 with an exponent of its own
  CHECK(difference(sinusoidal_table(1, 4, 2), wrong) != "");
}

TEST_CASE("G11 512 positions serve 512 tokens and refuse 513") {
  Rng rng(1);
  ParamStore store;
  const LearnedPositions positions(store, "P", 512, 2, rng);
  Tape tape;
  const Var fits = tape.input(Matrix(Shape{512, 2}), "X"), longer = tape.input(Matrix(Shape{513, 2}), "X");
  CHECK(bit_difference(positions(fits).value(), positions.table->value) == "");
  CHECK_THROWS_AS(positions(longer), ShapeError);
  CHECK_THROWS_WITH(positions(longer), ContainsSubstring("513 tokens") && ContainsSubstring("511"));
  CHECK_THROWS_AS(positions(tape.rows(fits, 0, 1), 1, 512), ShapeError);  // one token, one place too far
}
