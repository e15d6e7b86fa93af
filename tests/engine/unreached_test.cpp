// Leaves that backward() did not reach, and the line where the path from each of them ends.
#include "engine/ops.h"
#include "engine/params.h"
#include "engine/unreached.h"
#include "tests/catch.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static std::string here(int line) { return "tests/engine/unreached_test.cpp:" + std::to_string(line); }

TEST_CASE("unreached is empty when every leaf that wants a gradient got one") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x"), c = tape.constant(Matrix{{3, 4}}, "c");
  tape.backward(sum(mul(x, c)));
  CHECK(unreached(tape).empty());
}

TEST_CASE("unreached names a parameter that nothing uses") {
  Tape tape;
  Rng rng(1);
  ParamStore store;
  const int line = __LINE__ + 1;
  const Var w = tape.use(store.make("W_o", {1, 1}, Init::ones, rng));
  tape.backward(tape.input(Matrix{{1}}, "x"));
  const std::vector<Unreached> all = unreached(tape);
  REQUIRE(all.size() == 1);
  CHECK(all[0].leaf == w.id);
  CHECK(all[0].end == w.id);
  CHECK(all[0].cut == -1);
  CHECK_THAT(all[0].text,
             ContainsSubstring("\"W_o\" got no gradient: nothing uses it") && ContainsSubstring(here(line)));
}

TEST_CASE("unreached names the last line of a path that leads nowhere") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x"), unused = tape.input(Matrix{{3, 4}}, "unused");
  const Var aside = exp(unused);
  const int line = __LINE__ + 1;
  const Var end = sum(aside).named("forgotten");
  tape.backward(sum(x));
  const std::vector<Unreached> all = unreached(tape);
  REQUIRE(all.size() == 1);
  CHECK(all[0].leaf == unused.id);
  CHECK(all[0].end == end.id);
  CHECK(all[0].cut == -1);
  CHECK_THAT(all[0].text, ContainsSubstring("input \"unused\" got no gradient") &&
                              ContainsSubstring("ends at %3 sum \"forgotten\"") && ContainsSubstring(here(line)));
}

TEST_CASE("unreached names the detach that cuts a path") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x"), target = tape.input(Matrix{{3, 4}}, "target");
  const Var y = scale(target, 2);
  const int line = __LINE__ + 1;
  const Var cut = detach(y).named("fixed");
  tape.backward(sum(mul(x, cut)));
  const std::vector<Unreached> all = unreached(tape);
  REQUIRE(all.size() == 1);
  CHECK(all[0].leaf == target.id);
  CHECK(all[0].end == y.id);
  CHECK(all[0].cut == cut.id);
  CHECK_THAT(all[0].text, ContainsSubstring("input \"target\"") && ContainsSubstring("cut by %3 detach \"fixed\"") &&
                              ContainsSubstring(here(line)));
}
