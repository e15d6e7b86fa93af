// The tape as a list: handles, views, names, replay, and the order in which things may be done.
#include <cstring>

#include "engine/ops.h"
#include "engine/params.h"
#include "engine/unreached.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static const Matrix kX{{1, -2, 3}, {0.5, 4, -1}};

// ---- handles

TEST_CASE("a stale handle throws by the name of its line") {
  Tape tape;
  const Var x = tape.input(kX, "speeds");
  const Var y = exp(x).named("powers");
  tape.rewind();
  CHECK_THROWS_AS(x.value(), StaleVar);
  CHECK_THROWS_WITH(x.value(), ContainsSubstring("%0 input \"speeds\" is gone"));
  CHECK_THROWS_WITH(y.shape(), ContainsSubstring("%1 exp \"powers\" is gone"));
  CHECK_THROWS_AS(exp(x), StaleVar);
  CHECK_THROWS_AS(y.named("again"), StaleVar);
  CHECK_THROWS_AS(y.grad(), StaleVar);
  CHECK_THROWS_AS(tape.set(x, kX), StaleVar);
  CHECK_THROWS_AS(tape.view(x, 0, 0, 1, 1), StaleVar);
  CHECK_THROWS_AS(tape.backward(y, kX), StaleVar);
}

TEST_CASE("a handle stays stale when a new line takes its number") {
  Tape tape;
  const Var old = tape.input(kX, "old");
  tape.rewind();
  const Var fresh = tape.input(kX, "fresh");
  CHECK(fresh.id == old.id);
  CHECK(bit_difference(fresh.value(), kX) == "");
  CHECK_THROWS_WITH(old.value(), ContainsSubstring("\"old\" is gone"));
}

TEST_CASE("rewind_to keeps the lines before the mark and gives back those after it") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  const Tape::Mark mark = tape.mark();
  const Var y = exp(x).named("y");
  tape.rewind_to(mark);
  CHECK(tape.nodes.size() == 1);
  CHECK(bit_difference(x.value(), kX) == "");
  CHECK_THROWS_AS(y.value(), StaleVar);

  const Var z = neg(x);  // and the tape goes on
  tape.backward(sum(z));
  CHECK(bit_difference(x.grad(), Matrix{{-1, -1, -1}, {-1, -1, -1}}) == "");
}

TEST_CASE("rewinding away the root of a sweep clears the gradients") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  const Tape::Mark mark = tape.mark();
  tape.backward(sum(x));
  tape.rewind_to(mark);
  CHECK_FALSE(x.has_grad());
  tape.backward(sum(scale(x, 2)));  // no "already swept"
  CHECK(x.grad()(0, 0) == 2);
}

TEST_CASE("an operand from another tape, and an empty one, are refused") {
  Tape a, b;
  const Var x = a.input(kX, "x"), other = b.input(kX, "other");
  CHECK_THROWS_AS(add(x, other), TapeError);
  CHECK_THROWS_WITH(add(x, other), ContainsSubstring("two different tapes"));
  CHECK_THROWS_WITH(add(x, Var{}), ContainsSubstring("empty Var"));
  CHECK_THROWS_WITH(exp(Var{}), ContainsSubstring("empty Var"));
  CHECK_THROWS_WITH(Var{}.shape(), ContainsSubstring("empty Var"));
  CHECK_THROWS_WITH(a.view(other, 0, 0, 1, 1), ContainsSubstring("another tape"));
  CHECK_THROWS_WITH(a.set(other, kX), ContainsSubstring("another tape"));
  CHECK_THROWS_WITH(a.backward(other, kX), ContainsSubstring("another tape"));
  CHECK(a.nodes.size() == 1);
  CHECK(b.nodes.size() == 1);
}

// ---- names

TEST_CASE("find gives the last line of a name") {
  Tape tape;
  tape.input(kX, "x");
  const Var second = neg(tape.find("x")).named("x");
  CHECK(tape.find("x").id == second.id);
  CHECK_THROWS_WITH(tape.find("nobody"), ContainsSubstring("\"nobody\""));
}

TEST_CASE("names belong to the tape, not to the caller") {
  Tape tape;
  char name[] = "first";
  const Var x = tape.input(kX, name);
  std::strcpy(name, "other");
  CHECK(std::string(tape.node(x).name) == "first");
  CHECK(label(tape, x.id) == "%0 input \"first\"");
}

TEST_CASE("scopes are paths, and end where their block ends") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  {
    const Scope layer(tape, "layer 3");
    const Var y = neg(x);
    CHECK(std::string(tape.node(y).scope) == "layer 3");
    {
      const Scope head(tape, "head 7");
      CHECK(std::string(tape.node(neg(x)).scope) == "layer 3/head 7");
      CHECK(std::string(tape.node(tape.view(x, 0, 0, 1, 1)).scope) == "layer 3/head 7");
    }
    CHECK(std::string(tape.node(neg(x)).scope) == "layer 3");
  }
  CHECK(std::string(tape.node(x).scope) == "");
  CHECK(std::string(tape.node(neg(x)).scope) == "");
}

TEST_CASE("a line remembers the file and line that recorded it") {
  Tape tape;
  const int here = __LINE__ + 1;
  const Var x = tape.input(kX, "x");
  CHECK(to_text(tape.node(x).where) == "tests/engine/tape_test.cpp:" + std::to_string(here));
  CHECK(to_text(tape.node(neg(x)).where) == "tests/engine/tape_test.cpp:" + std::to_string(here + 2));
  CHECK_THROWS_WITH(matmul(x, x), ContainsSubstring("at tests/engine/tape_test.cpp:" + std::to_string(here + 3)));
}

// ---- views

TEST_CASE("a view shares the values and the gradient of its parent") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  const Var block = tape.view(x, 0, 1, 2, 2);
  CHECK(&block.value()(1, 0) == &x.value()(1, 1));
  tape.backward(block, Matrix{{1, 2}, {3, 4}});
  CHECK(bit_difference(x.grad(), Matrix{{0, 1, 2}, {0, 3, 4}}) == "");
  CHECK(&block.grad()(0, 0) == &x.grad()(0, 1));
}

TEST_CASE("gradients through two overlapping views add up") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  const Var left = tape.view(x, 0, 0, 2, 2), right = tape.view(x, 0, 1, 2, 2);
  tape.backward(sum(add(scale(left, 10), right)));
  CHECK(bit_difference(x.grad(), Matrix{{10, 11, 1}, {10, 11, 1}}) == "");
}

TEST_CASE("a view of a view finds the right block") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  const Var row = tape.view(x, 1, 0, 1, 3), entry = tape.view(row, 0, 2, 1, 1);
  CHECK(entry.value()(0, 0) == -1);
  tape.backward(entry);
  CHECK(bit_difference(x.grad(), Matrix{{0, 0, 0}, {0, 0, 1}}) == "");
}

TEST_CASE("a view that sticks out is refused") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  CHECK_THROWS_AS(tape.view(x, 0, 2, 2, 2), ShapeError);
  CHECK_THROWS_AS(tape.view(x, 1, 0, 2, 1), ShapeError);
  CHECK_THROWS_AS(tape.view(x, -1, 0, 1, 1), ShapeError);
  CHECK_THROWS_AS(tape.view(x, 0, -1, 1, 1), ShapeError);
  CHECK_THROWS_AS(tape.view(x, 0, 0, -1, 1), ShapeError);
  CHECK_THROWS_AS(tape.view(x, 0, 0, 1, -1), ShapeError);
  CHECK_THROWS_AS(tape.view(x, 0, 0, 2147483647, 1), ShapeError);
  CHECK(tape.nodes.size() == 1);
}

// ---- what wants no gradient

TEST_CASE("NoGrad records without gradients and leaves no line") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  {
    const NoGrad off(tape);
    const Var y = exp(x);
    CHECK_FALSE(tape.node(y).needs_grad);
    CHECK_FALSE(tape.node(tape.input(kX, "inside")).needs_grad);
    CHECK_FALSE(tape.node(tape.view(x, 0, 0, 1, 1)).needs_grad);
    CHECK_THROWS_AS(tape.backward(y, kX), TapeError);
  }
  CHECK(tape.nodes.size() == 1);
  CHECK(tape.recording);
  CHECK(tape.node(exp(x)).needs_grad);
}

TEST_CASE("backward from constants throws") {
  Tape tape;
  const Var y = exp(tape.constant(Matrix{{1}}, "c")).named("y");
  CHECK_THROWS_AS(tape.backward(y), TapeError);
  CHECK_THROWS_WITH(tape.backward(y), ContainsSubstring("%1 exp \"y\"") && ContainsSubstring("constants"));
  CHECK_THROWS_WITH(y.grad(), ContainsSubstring("made of constants only"));
}

TEST_CASE("detach stays what it was in a replay, and lets no gradient through") {
  Tape tape;
  const Var x = tape.input(Matrix{{3}}, "x");
  const Var frozen = detach(x), y = mul(x, frozen);
  tape.set(x, Matrix{{5}});
  tape.replay();
  CHECK(frozen.value()(0, 0) == 3);
  CHECK(y.value()(0, 0) == 15);
  tape.backward(y);
  CHECK(x.grad()(0, 0) == 3);
  CHECK_FALSE(frozen.has_grad());
}

// ---- changed values

TEST_CASE("backward after set wants a replay first") {
  Tape tape;
  const Var x = tape.input(Matrix{{3}}, "x");
  const Var y = mul(x, x);
  tape.set(x, Matrix{{5}});
  CHECK_THROWS_AS(tape.backward(y), TapeError);
  CHECK_THROWS_WITH(tape.backward(y), ContainsSubstring("%0 input \"x\" was changed") && ContainsSubstring("replay()"));
  tape.replay();
  CHECK(y.value()(0, 0) == 25);
  tape.backward(y);
  CHECK(x.grad()(0, 0) == 10);
}

TEST_CASE("set before anything used the line needs no replay") {
  Tape tape;
  const Var x = tape.input(Matrix{{3}}, "x");
  tape.set(x, Matrix{{5}});
  tape.backward(mul(x, x));
  CHECK(x.grad()(0, 0) == 10);
}

TEST_CASE("set refuses what is no leaf, and another shape") {
  Tape tape;
  Rng rng(1);
  ParamStore store;
  const Var x = tape.input(kX, "x"), w = tape.use(store.make("w", {2, 3}, Init::ones, rng));
  CHECK_THROWS_AS(tape.set(neg(x), kX), TapeError);
  CHECK_THROWS_AS(tape.set(tape.view(x, 0, 0, 2, 3), kX), TapeError);
  CHECK_THROWS_WITH(tape.set(w, kX), ContainsSubstring("Param::set"));
  CHECK_THROWS_WITH(tape.set(x, Matrix{{1}}), ContainsSubstring("2 x 3") && ContainsSubstring("1 x 1"));
}

TEST_CASE("backward after a parameter changed wants a replay first") {
  Tape tape;
  Rng rng(1);
  ParamStore store;
  Param& w = store.make("W_q", {1, 1}, Init::ones, rng);
  const Var first = tape.use(w);  // line 0, where the walks end
  const Var y = mul(first, tape.input(Matrix{{3}}, "x"));
  w.set(Matrix{{2}});
  CHECK_THROWS_AS(tape.backward(y), TapeError);
  CHECK_THROWS_WITH(tape.backward(y), ContainsSubstring("parameter W_q") && ContainsSubstring("replay()"));
  tape.replay();
  CHECK(y.value()(0, 0) == 6);
  tape.backward(y);
  CHECK(w.grad(0, 0) == 3);
}

// ---- sweeps

TEST_CASE("a second backward throws, and after clear_gradients it gives the same") {
  Tape tape;
  const Var x = tape.input(kX, "x");
  const Var y = exp(x).named("y");
  tape.backward(y, kX);
  const Matrix first(x.grad());
  CHECK_THROWS_AS(tape.backward(y, kX), TapeError);
  CHECK_THROWS_WITH(tape.backward(y, kX),
                    ContainsSubstring("already swept, from %1 exp \"y\"") && ContainsSubstring("clear_gradients()"));
  CHECK(bit_difference(x.grad(), first) == "");
  tape.clear_gradients();
  CHECK_FALSE(x.has_grad());
  CHECK_FALSE(tape.node(x).reached);
  CHECK_THROWS_WITH(x.grad(), ContainsSubstring("no backward() has reached it"));
  tape.backward(y, kX);
  CHECK(bit_difference(x.grad(), first) == "");
}

TEST_CASE("backward leaves lines alone that the root does not need") {
  Tape tape;
  const Var x = tape.input(kX, "x"), aside = exp(x), y = neg(x);
  const Var later = exp(y);
  tape.backward(y, kX);
  CHECK_FALSE(aside.has_grad());
  CHECK_FALSE(later.has_grad());
  CHECK(bit_difference(x.grad(), Matrix{{-1, 2, -3}, {-0.5, -4, 1}}) == "");
}

TEST_CASE("the gradients of a parameter add up over recordings until zero_grad") {
  Tape tape;
  Rng rng(1);
  ParamStore store;
  Param& w = store.make("w", {1, 1}, Init::ones, rng);
  for (double factor : {2, 5}) {
    tape.rewind();
    tape.backward(scale(tape.use(w), factor));
  }
  CHECK(w.grad(0, 0) == 7);
  tape.clear_gradients();
  CHECK(w.grad(0, 0) == 7);
  store.zero_grad();
  CHECK(w.grad(0, 0) == 0);
}

TEST_CASE("a parameter that is used twice gets both gradients") {
  Tape tape;
  Rng rng(1);
  ParamStore store;
  Param& w = store.make("w", {1, 1}, Init::ones, rng);
  w.set(Matrix{{3}});
  const Var first = tape.use(w), second = tape.use(w);
  tape.backward(mul(scale(first, 2), second));  // 2 w^2
  CHECK(w.grad(0, 0) == 12);
  CHECK(first.grad().data == second.grad().data);
}
