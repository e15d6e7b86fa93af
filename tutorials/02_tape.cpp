// tutorials/02_tape.cpp: a computation is a list; walking it backward gives every derivative.
// Read first: nothing.   Next: 04_linear.   The code behind it: engine/tape.h, engine/tape_backward.cpp
#include "engine/ops.h"
#include "engine/unreached.h"
#include "tutorials/page/page.h"
using namespace glass;

// The first line of the error that `tape.backward(L)` throws.
static std::string refusal(Tape& tape, Var L) {
  try {
    tape.backward(L);
  } catch (const TapeError& e) {
    return e.what();
  }
  return "";
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "02");
  Tape& tape = page.tape;
  const Var x = tape.input(page.matrix("x", {{2}}), "x");
  const Var w = tape.input(page.matrix("w", {{-3}}), "w");
  const Var b = tape.input(page.matrix("b", {{10}}), "b");

  page.step("Record", "p = x w", "an operation appends a line and remembers its operands (-: no gradient yet)");
  const Var p = mul(x, w).named("p");
  page.show_tape(tape);

  page.step("And so on", "s = p + b   L = s x", "x is used a second time; an operand is always an earlier line");
  const Var s = add(p, b).named("s");
  const Var L = mul(s, x).named("L");
  page.show_tape(tape);
  page.check("L = (x w + b) x", L.value()(0, 0),
             (x.value()(0, 0) * w.value()(0, 0) + b.value()(0, 0)) * x.value()(0, 0));

  page.part("Back", "A gradient answers: how much does L change, per unit of change of this number?\n"
                    "For L itself the answer is 1. From there walk the list backward; every line\n"
                    "hands its own gradient on to its operands, times its local derivative.");
  page.step("Sweep", "from the last line to the first",
            "a line's users stand below it, so its gradient is complete when reached");
  page.backward(L, Matrix{{1}});
  page.show_tape(tape);
  page.spell_gradient(s, 0, 0);
  page.spell_gradient(p, 0, 0);
  page.spell_gradient(w, 0, 0);

  page.step("Used twice", "both paths count, so gradients ADD", "x reaches L directly and through p");
  page.spell_gradient(x, 0, 0);
  const double direct = s.value()(0, 0), through_p = x.value()(0, 0) * w.value()(0, 0);
  page.check("dx = the sum of both paths", x.grad()(0, 0), direct + through_p);
  if (direct != 0) page.check("overwriting instead of adding would have lost one of them", through_p != x.grad()(0, 0));

  page.step("Believe nothing", "nudge each input a little, compute L again, compare",
            "this is what \"ok (< 1e-7)\" below a gradient means, in every lesson");
  page.show_gradient({x, w, b});

  page.part("Trap", "Three ways to lose or to spoil a gradient.");
  page.step("Once is enough", "backward() twice", "a second sweep would add everything again, so it is refused:");
  const std::string message = refusal(tape, L);
  page.say("   " + message.substr(0, message.find('\n')));
  page.check("a second backward() is refused", !message.empty());
  const double before = x.grad()(0, 0);
  tape.clear_gradients();
  page.backward(L, Matrix{{1}});
  page.check("after clear_gradients() it gives the same dx", x.grad()(0, 0), before, 1e-15);

  page.step("A cut path", "q = constant(value of p)   L = q x",
            "the value is right, but the list no longer knows where it came from");
  Tape cut;
  const Var x2 = cut.input(x.value(), "x"), w2 = cut.input(w.value(), "w");
  const Var p2 = mul(x2, w2).named("p");
  const Var q2 = cut.constant(p2.value(), "q");
  const Var L2 = mul(q2, x2).named("L");
  cut.backward(L2);
  page.show_tape(cut);
  const auto lost = unreached(cut);
  for (const Unreached& u : lost) page.say("   " + u.text);
  page.check("w got no gradient, and the path is followed to its end",
             lost.size() == 1 && lost[0].leaf == w2.id && lost[0].end == p2.id);
  page.check("dx counts one path only: x w, not 2 x w", x2.grad()(0, 0), p2.value()(0, 0));

  page.step("A path cut on purpose", "y = x · detach(x)", "the same number as x², but one factor counts as a constant");
  Tape third;
  const Var x3 = third.input(x.value(), "x");
  const Var y3 = mul(x3, detach(x3)).named("y");
  third.backward(y3);
  page.show_tape(third);
  page.check("dx = x, not 2 x", x3.grad()(0, 0), x.value()(0, 0));
  page.check("and differences with the detached value held still agree", gradient_gap(third, y3, Matrix{{1}}, x3).ok());
  return page.done();
} catch (const std::exception& e) {
  return fail("02", e);
}
