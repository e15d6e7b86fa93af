// The story of the first number that is not finite: told when it reaches the root or a gradient, and not before.
#include <limits>

#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static constexpr double kInf = std::numeric_limits<double>::infinity();
static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

static std::string here(int line) { return "tests/engine/nonfinite_test.cpp:" + std::to_string(line); }

static std::string story(Tape& tape, Var root) {  // of the NonFiniteError, or ""
  try {
    tape.backward(root, Matrix(root.value()));
  } catch (const NonFiniteError& e) {
    return e.what();
  }
  return "";
}

TEST_CASE("an overflow that reaches the root is told with its line, entry, operand, place and cause") {
  Tape tape;
  tape.watch_nonfinite = true;
  const Var x = tape.input(Matrix{{0, 1, 2}, {3, 1000, 5}}, "x");
  const int line = __LINE__ + 1;
  const Var p = exp(x).named("p");
  const Var y = sum(p).named("total");
  CHECK(tape.first_nonfinite == p.id);
  const std::string text = story(tape, y);
  CHECK_THAT(text, ContainsSubstring("p[1,1] = inf of %1 exp \"p\", 2 x 3"));
  CHECK_THAT(text, ContainsSubstring("why: exp of more than 709.78"));
  CHECK_THAT(text, ContainsSubstring("from %0 input \"x\", 2 x 3"));
  CHECK_THAT(text, ContainsSubstring("where x[1,1] = 1000"));
  CHECK_THAT(text, ContainsSubstring("recorded at " + here(line)));
  CHECK_THAT(text, ContainsSubstring("it reaches %2 sum \"total\""));
}

TEST_CASE("a division by zero is told with its zero") {
  Tape tape;
  tape.watch_nonfinite = true;
  const Var a = tape.input(Matrix{{1, 2, 3}}, "a"), b = tape.input(Matrix{{4, 0, 5}}, "b");
  const std::string text = story(tape, div(a, b).named("ratio"));
  CHECK_THAT(text, ContainsSubstring("ratio[0,1] = inf") && ContainsSubstring("why: a division by zero"));
  CHECK_THAT(text, ContainsSubstring("from %1 input \"b\", 1 x 3, where b[0,1] = 0"));
}

TEST_CASE("a NaN that was given is called given") {
  Tape tape;
  tape.watch_nonfinite = true;
  const int line = __LINE__ + 1;
  const Var x = tape.input(Matrix{{1, 2}, {kNan, 4}}, "x");
  CHECK(tape.first_nonfinite == x.id);
  const std::string text = story(tape, exp(x));
  CHECK_THAT(text, ContainsSubstring("x[1,0] = nan") && ContainsSubstring("the input itself holds it"));
  CHECK_THAT(text, ContainsSubstring(here(line)));
}

TEST_CASE("the story is that of the first line, not of the ones it spoils") {
  Tape tape;
  tape.watch_nonfinite = true;
  const Var x = tape.input(Matrix{{1000}}, "x");
  const Var p = exp(x), q = sub(p, p);  // inf - inf = nan
  CHECK(tape.first_nonfinite == p.id);
  CHECK_THAT(story(tape, q), ContainsSubstring("= inf of %1 exp") && ContainsSubstring("it reaches %2 sub"));
}

TEST_CASE("the -inf of a mask is meant") {
  Tape tape;
  tape.watch_nonfinite = true;
  unsigned char allowed[] = {1, 0, 1, 0, 0, 0};
  const Var e = tape.input(Matrix{{1, 2, 3}, {4, 5, 6}}, "E");
  const Var hidden = mask(e, Keep{allowed, 2, 3}, -kInf);
  CHECK(tape.node(hidden).finite == Finite::meant);
  const Var a = softmax(hidden);
  CHECK(tape.node(a).finite == Finite::yes);
  CHECK(tape.first_nonfinite == -1);
  CHECK(story(tape, a) == "");
  CHECK(e.grad()(0, 1) == 0);
}

TEST_CASE("a mask does not excuse a +inf or a NaN") {
  for (double bad : {kInf, kNan}) {
    Tape tape;
    tape.watch_nonfinite = true;
    unsigned char allowed[] = {1, 0};
    const Var e = tape.input(Matrix{{bad, 2}}, "E");
    CHECK_THAT(story(tape, mask(e, Keep{allowed, 1, 2}, -kInf)), ContainsSubstring("E[0,0] = "));
  }
}

TEST_CASE("an overflow that a mask leaves out does no harm") {
  Tape tape;
  tape.watch_nonfinite = true;
  unsigned char allowed[] = {1, 0, 1};
  const Var a = tape.input(Matrix{{1, 2, 3}}, "a"), b = tape.input(Matrix{{1, 0, 4}}, "b");
  const Var y = mask(div(a, b), Keep{allowed, 1, 3}, 7);
  CHECK(tape.first_nonfinite == 2);
  tape.backward(y, Matrix{{2, 3, 4}});
  CHECK(bit_difference(a.grad(), Matrix{{2, 0, 1}}) == "");
  CHECK(bit_difference(b.grad(), Matrix{{-2, 0, -0.75}}) == "");
}

static Var product(int which, Var a, Var b) {
  return which == 0 ? matmul(a, b) : which == 1 ? matmul_nt(a, b) : attention(a, b, b, 1);
}

TEST_CASE("the operands of a product are shown without an entry, for no single one is to blame") {
  const double large = sizeof(Real) == 8 ? 1e200 : 1e30;
  for (int which : {0, 1, 2}) {
    Tape tape;
    tape.watch_nonfinite = true;
    const Var a = tape.input(Matrix{{1, large}, {2, 3}}, "a"), b = tape.input(Matrix{{large, large}, {large, 1}}, "b");
    const std::string text = story(tape, product(which, a, b));
    CHECK_THAT(text, ContainsSubstring("entry [0,0] = ") && ContainsSubstring("from %0 input \"a\", 2 x 2\n"));
  }
}

TEST_CASE("a row or a column that was used for all of them is shown at its own entry") {
  Tape tape;
  tape.watch_nonfinite = true;
  const Var m = tape.input(Matrix{{1, 2}, {3, 4}}, "m"), c = tape.input(Matrix{{1}, {0}}, "c");
  CHECK_THAT(story(tape, div_col(m, c)), ContainsSubstring("[1,0] = inf") && ContainsSubstring("where c[1,0] = 0"));
  tape.rewind();
  const double large = double(std::numeric_limits<Real>::max());
  const Var x = tape.input(Matrix{{1, 2}, {3, large}}, "x"), r = tape.input(Matrix{{5, large}}, "r");
  CHECK_THAT(story(tape, add_row(x, r)), ContainsSubstring("[1,1] = inf") && ContainsSubstring("where r[0,1] = "));
}

TEST_CASE("a gradient that becomes infinite is told though every value is finite") {
  Tape tape;
  tape.watch_nonfinite = true;
  const double tiny = sizeof(Real) == 8 ? 1e-200 : 1e-30;
  const Var a = tape.input(Matrix{{0, 0}}, "a"), b = tape.input(Matrix{{1, tiny}}, "b");
  const int line = __LINE__ + 1;
  const Var y = div(a, b).named("y");
  CHECK(tape.first_nonfinite == -1);
  const Var z = scale(y, 1 / tiny);
  std::string text;
  try {
    tape.backward(z, Matrix{{1, 1}});
  } catch (const NonFiniteError& e) {
    text = e.what();
  }
  CHECK_THAT(text, ContainsSubstring("gradient") && ContainsSubstring("da[0,1] = inf of %0 input \"a\""));
  CHECK_THAT(text, ContainsSubstring("sent back by %2 div \"y\"") && ContainsSubstring("where b[0,1] = ") &&
                       ContainsSubstring("why: a division by zero"));
  CHECK_THAT(text, ContainsSubstring(here(line)));
}

TEST_CASE("the story of a gradient mentions a value that was bad before") {
  Tape tape;
  tape.watch_nonfinite = true;
  const double tiny = sizeof(Real) == 8 ? 1e-200 : 1e-30;
  const Var aside = exp(tape.constant(Matrix{{1000}}, "c")).named("aside");
  const Var a = tape.input(Matrix{{0}}, "a"), b = tape.input(Matrix{{tiny}}, "b");
  CHECK(tape.first_nonfinite == aside.id);
  CHECK_THROWS_WITH(tape.backward(scale(div(a, b), 1 / tiny)),
                    ContainsSubstring("the first gradient that is not finite: da[0,0] = inf") &&
                        ContainsSubstring("a value was bad already: %1 exp \"aside\""));
}

TEST_CASE("nothing is said when the watch is off") {
  Tape tape;
  tape.watch_nonfinite = false;
  const Var x = tape.input(Matrix{{1000}}, "x");
  const Var y = exp(x);
  CHECK(tape.first_nonfinite == -1);
  CHECK_NOTHROW(tape.backward(y));
}

TEST_CASE("a replay with better numbers forgets the story") {
  Tape tape;
  tape.watch_nonfinite = true;
  const Var x = tape.input(Matrix{{1000}}, "x");
  const Var y = exp(x);
  CHECK(story(tape, y) != "");
  tape.set(x, Matrix{{0}});
  tape.replay();
  CHECK(tape.first_nonfinite == -1);
  CHECK_NOTHROW(tape.backward(y));
  CHECK(x.grad()(0, 0) == 1);
}
