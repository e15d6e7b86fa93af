// Every entry of every gradient, taken apart: the parts add up, and nothing is left behind.
#include "engine/why.h"

#include <algorithm>
#include <cmath>

#include "engine/debug/calls.h"
#include "engine/entry.h"
#include "engine/ops.h"
#include "engine/recompute.h"
#include "tests/catch.h"
#include "tests/op_trial.h"

using namespace glass;

static std::vector<Matrix> all_numbers(const Tape& tape) {
  std::vector<Matrix> all;
  for (const Node& n : tape.nodes) {
    all.emplace_back(n.value);
    if (n.grad.data) all.emplace_back(n.grad);
  }
  return all;
}

static std::string changed(const Tape& tape, const std::vector<Matrix>& before) {
  const std::vector<Matrix> now = all_numbers(tape);
  if (now.size() != before.size()) return "another number of matrices";
  for (std::size_t i = 0; i < now.size(); ++i)
    if (bit_difference(now[i], before[i]) != "") return bit_difference(now[i], before[i]);
  return "";
}

// The first entry of a line's gradient or value that does not add up, or whose rule is not what differences say; "" if none.
static std::string not_explained(Tape& tape, int id, bool with_differences) {
  const Node& n = tape.nodes[std::size_t(id)];
  for (int r = 0; r < n.value.rows; ++r) {
    for (int c = 0; c < n.value.cols; ++c) {
      const Why v = why_value(tape, id, r, c);
      if (v.sum != v.stored && !(std::isnan(v.sum) && std::isnan(v.stored))) return label(tape, id) + entry_text(r, c) + " is not computed again";
      if (!n.grad.data) continue;
      const Why g = why_gradient(tape, id, r, c);
      if (!g.adds_up()) return "d" + label(tape, id) + entry_text(r, c) + ": " + to_text(g.sum) + " is not " + to_text(g.stored);
      const WhyGap gap = with_differences ? why_locals(tape, g) : WhyGap{};
      if (!gap.ok()) return "d" + label(tape, id) + entry_text(r, c) + " at " + label(tape, gap.line) + entry_text(gap.row, gap.col) + ": " + to_text(gap.taped) + " is not " + to_text(gap.numeric);
    }
  }
  return "";
}

TEST_CASE("why: two paths to one number, by hand") {
  Tape tape;
  const Var x = tape.input(Matrix{{2, 3}}, "x"), y = mul(x, x).named("y"), z = scale(x, 5).named("z"), s = add(y, z).named("s");
  tape.backward(s, Matrix{{10, -1}});
  const Why why = why_gradient(tape, x.id, 0, 1);  // d(x² + 5x)/dx = 2x + 5, from -1
  REQUIRE(why.terms.size() == 2);
  CHECK(why.terms[0].line == y.id);
  CHECK(why.terms[0].row == 0);
  CHECK(why.terms[0].col == 1);
  CHECK(why.terms[0].upstream == -1);
  CHECK(why.terms[0].local == 6);  // x is both operands: 3 + 3
  CHECK(why.terms[0].product == -6);
  CHECK(why.terms[1].line == z.id);
  CHECK(why.terms[1].local == 5);
  CHECK(why.sum == -11);
  CHECK(why.stored == -11);
  CHECK(why_gradient(tape, s.id, 0, 0).given);
  CHECK(why_gradient(tape, s.id, 0, 0).stored == 10);
}

TEST_CASE("why: a value is made of its operands' entries") {
  Tape tape;
  const Var a = tape.input(Matrix{{1, 2}, {3, 4}}, "a"), b = tape.constant(Matrix{{5, 6}, {7, 8}}, "b"), y = matmul(a, b).named("y");
  const Why why = why_value(tape, y.id, 1, 0);  // 3·5 + 4·7
  CHECK(why.stored == 43);
  CHECK(why.sum == 43);
  REQUIRE(why.terms.size() == 4);
  CHECK(why.terms[0].line == a.id);
  CHECK(why.terms[0].row == 1);
  CHECK(why.terms[0].col == 1);
  CHECK(why.terms[0].upstream == 4);
  CHECK(why.terms[0].local == 7);
  CHECK(why.terms[1].line == b.id);  // also of a constant, which has no gradient
  CHECK(why.terms[1].upstream == 7);
  CHECK(why.terms[1].local == 4);
  CHECK(why_value(tape, a.id, 0, 0).given);
}

TEST_CASE("why: every entry of every op's operands adds up, and agrees with differences") {
  for (const OpCase& c : op_cases()) {
    if (c.constant) continue;
    DYNAMIC_SECTION(c.name) {
      Trial t(c);
      t.tape.backward(t.y, t.seed);
      const std::vector<Matrix> before = all_numbers(t.tape);
      const std::size_t bytes = t.tape.bytes();
      for (int id = 0; id < int(t.tape.nodes.size()); ++id) CHECK(not_explained(t.tape, id, true) == "");
      CHECK(changed(t.tape, before) == "");
      CHECK(t.tape.bytes() == bytes);
    }
  }
}

TEST_CASE("why: views, a view of a view, and a line that is read whole and in parts") {
  Tape tape;
  tape.zero_first = false;  // gradients are stored first where they can be
  const Var x = tape.input(sines({4, 6}, 1, 0.7, 1.3), "x"), w = exp(x).named("w");
  const Var left = tape.cols(w, 0, 4), corner = tape.rows(left, 1, 2).named("corner");
  const Var y = matmul_nt(corner, tape.cols(tape.rows(w, 0, 2), 2, 4)).named("y");
  const Var total = add_scalar(y, sum(w)).named("total");
  tape.backward(total, sines({2, 2}, 1, 1.1, 0.4));
  const std::vector<Matrix> before = all_numbers(tape);
  for (int id = 0; id < int(tape.nodes.size()); ++id) CHECK(not_explained(tape, id, true) == "");
  CHECK(changed(tape, before) == "");
  const Why why = why_gradient(tape, corner.id, 0, 1), same = why_gradient(tape, w.id, 1, 1);
  CHECK(why.line == w.id);
  CHECK(why.row == 1);
  CHECK(why.terms.size() == same.terms.size());
  CHECK(std::any_of(why.terms.begin(), why.terms.end(), [&](const WhyTerm& t) { return t.via == corner.id; }));
}

TEST_CASE("why: a parameter that several lines use") {
  ParamStore store;
  Rng rng(3);
  Param& W = store.make("W", {3, 3}, Init::xavier, rng);
  Tape tape;
  const Var x = tape.input(sines({2, 3}, 1, 0.7, 1.3), "x");
  const Var h = tanh(matmul(x, tape.use(W))).named("h"), second = tape.use(W), y = matmul(h, tape.rows(second, 0, 3)).named("y");
  tape.backward(y, sines({2, 3}, 1, 1.1, 0.4));
  const std::vector<Matrix> before = all_numbers(tape);
  for (int id = 0; id < int(tape.nodes.size()); ++id) CHECK(not_explained(tape, id, true) == "");
  CHECK(changed(tape, before) == "");
  const Why why = why_gradient(tape, second.id, 0, 1);
  CHECK(std::any_of(why.terms.begin(), why.terms.end(), [&](const WhyTerm& t) { return t.line == y.id; }));
  CHECK(std::any_of(why.terms.begin(), why.terms.end(), [&](const WhyTerm& t) { return t.line != y.id; }));
  // What an earlier sweep gave is in the stored value, and not in the sum.
  tape.clear_gradients();
  tape.backward(y, sines({2, 3}, 1, 1.1, 0.4));
  const Why twice = why_gradient(tape, second.id, 0, 1);
  CHECK_FALSE(twice.adds_up());
  CHECK(std::fabs(twice.stored - 2 * twice.sum) < why_tolerance());
}

namespace {
struct Block final : Recomputable {
  Param* W;
  Var run(Tape& tape, const Var* in) override { return tanh(matmul(in[0], tape.use(*W))); }
  void parameters(std::vector<Param*>& all) const override { all.push_back(W); }
};

// y = 2x, and rules of y that are wrong in one way each.
struct Wrong : Op {
  enum Way { none, ignores_a_column, overwrites, forgets } way;
  explicit Wrong(Way w) : way(w) {}
  const char* name() const override { return "wrong"; }
  void forward(Step& s) override { s.be.scale(s.x[0], 2, s.y); }
  void backward(Step& s) override {
    const int cols = s.y.cols - (way == ignores_a_column ? 1 : 0);
    const Mat dy = s.dy.block(0, 0, s.y.rows, cols), dx = s.dx[0].block(0, 0, s.y.rows, cols);
    if (way == forgets) return;
    way == overwrites ? s.be.scale(dy, 2, dx) : s.be.add_scaled(2, dy, dx);
  }
};
}  // namespace

TEST_CASE("why: a block that is recomputed, and its parameters") {
  ParamStore store;
  Rng rng(3);
  Block block;
  block.W = &store.make("W", {3, 3}, Init::xavier, rng);
  Tape tape;
  const Var x = tape.input(sines({2, 3}, 1, 0.7, 1.3), "x"), h = recompute(block, &x, 1).named("h"), y = mul(h, h).named("y");
  tape.backward(y, sines({2, 3}, 1, 1.1, 0.4));
  const std::vector<Matrix> before = all_numbers(tape);
  const std::size_t peak = tape.peak_bytes();
  for (int id = 0; id < int(tape.nodes.size()); ++id) CHECK(not_explained(tape, id, true) == "");
  CHECK(changed(tape, before) == "");
  CHECK(tape.peak_bytes() == peak);
  tape.inner().input(Matrix{{1}}, "at work");
  CHECK_THROWS_AS(why_gradient(tape, x.id, 0, 0), TapeError);
  tape.inner().rewind();
}

TEST_CASE("why: a wrong rule shows") {
  for (const auto way : {Wrong::none, Wrong::ignores_a_column, Wrong::overwrites, Wrong::forgets}) {
    Tape tape;
    const Var x = tape.input(Matrix{{1, 2, 3}}, "x"), p = tape.record<Wrong>({1, 3}, {x}, {}, way).named("p"), q = scale(x, 3).named("q");
    tape.backward(add(p, q), Matrix{{0.5, -1, 2}});
    const Why first = why_gradient(tape, x.id, 0, 0), last = why_gradient(tape, x.id, 0, 2);
    CHECK(first.adds_up() == (way != Wrong::overwrites));  // q was swept first, and what it gave is gone
    CHECK(last.adds_up() == (way != Wrong::overwrites));
    CHECK(why_locals(tape, first).ok() == (way != Wrong::forgets));
    CHECK(why_locals(tape, last).ok() == (way != Wrong::forgets && way != Wrong::ignores_a_column));
    const WhyGap gap = why_locals(tape, last);
    if (gap.ok()) continue;
    CHECK(gap.line == p.id);
    CHECK(gap.col == 2);
    CHECK(gap.taped == 0);
    CHECK(std::fabs(gap.numeric - 2) < 1e-3);
  }
}

TEST_CASE("why: errors name the line and the entry") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x"), y = exp(x).named("y");
  CHECK_THROWS_WITH(why_gradient(tape, x.id, 0, 0), "%0 input \"x\" has no gradient: no backward() has reached it");
  CHECK_THROWS_WITH(why_value(tape, 7, 0, 0), "why: the tape has no line %7; its last is %1");
  CHECK_THROWS_WITH(why_value(tape, y.id, 1, 0), "why: %1 exp \"y\" is 1 x 2, it has no entry [1,0]");
  CHECK_THROWS_WITH(why_value(tape, y.id, 0, -1), "why: %1 exp \"y\" is 1 x 2, it has no entry [0,-1]");
}

TEST_CASE("why: what a debugger prints") {
  using Catch::Matchers::ContainsSubstring;
  Tape tape;
  const Var x = tape.input(Matrix{{2, 3}}, "x"), y = mul(x, x).named("y"), s = add(y, scale(x, 5)).named("s");
  tape.backward(s, Matrix{{10, -1}});
  const std::string text = dbg::why_text(tape, "dx[0,1]", 2, 1);
  CHECK_THAT(text, ContainsSubstring("Why dx[0,1] = -11\n") && ContainsSubstring("x[0,1] goes into 1 number of %1 mul \"y\"\n"));
  CHECK_THAT(text, ContainsSubstring("  dy[0,1]") && ContainsSubstring("= -1, adds up") && ContainsSubstring("and 1 more") && ContainsSubstring("   adds up"));
  CHECK_THAT(dbg::why_text(tape, "y[0,1]", 1, 8), ContainsSubstring("y[0,1] = mul = 9") && ContainsSubstring("bit for bit"));
  CHECK_THAT(dbg::why_text(tape, "ds[0,0]", 1, 8), ContainsSubstring("the seed of the sweep"));
  CHECK_THAT(dbg::show_text(tape, "x"), ContainsSubstring(" x  1 x 2\n") && ContainsSubstring("2.0000  3.0000"));
  CHECK_THAT(dbg::show_text(tape, "dx"), ContainsSubstring(" dx  1 x 2\n"));
  CHECK_THAT(dbg::show_text(tape, "nothing"), ContainsSubstring("no line of the tape is called nothing"));
  CHECK_THAT(dbg::check_text(tape, "x"), ContainsSubstring("%0 input \"x\" agrees with central differences in 2 of 2 entries"));
  CHECK_THAT(dbg::why_text(tape, "x[0,0]", 1, 8), ContainsSubstring("a leaf of the tape"));
  CHECK(dbg::why_text(tape, "dz[0,0]", 1, 8) == "why \"dz[0,0]\": no line of the tape is called dz, did you mean dx?\n");
  tape.nodes[std::size_t(x.id)].grad(0, 1) += 1;  // as in the middle of a sweep
  CHECK_THAT(dbg::why_text(tape, "dx[0,1]", 1, 8), ContainsSubstring("DOES NOT ADD UP: off by 1\n") && ContainsSubstring("In the middle of a sweep"));
}

TEST_CASE("an entry by name or number") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x"), d = exp(x).named("dropped"), w = tape.input(Matrix{{1, 2}}, "head 3 W"), L = sum(d).named("L");
  const auto is = [&](const char* text, int line, bool gradient, int row, int col) {
    const Entry e = find_entry(tape, text);
    return e.line == line && e.gradient == gradient && e.row == row && e.col == col;
  };
  CHECK(is("x[0,1]", x.id, false, 0, 1));
  CHECK(is("dx[0,1]", x.id, true, 0, 1));
  CHECK(is("dx[ 0 , 1 ]", x.id, true, 0, 1));
  CHECK(is("dropped[0,1]", d.id, false, 0, 1));
  CHECK(is("ddropped[0,0]", d.id, true, 0, 0));
  CHECK(is("head 3 W[0,1]", w.id, false, 0, 1));
  CHECK(is("%1[0,1]", d.id, false, 0, 1));
  CHECK(is("d%1[0,1]", d.id, true, 0, 1));
  CHECK(is("L", L.id, false, 0, 0));
  CHECK(is("dL[0,0]", L.id, true, 0, 0));
  CHECK(entry_name(tape, find_entry(tape, "d%1[0,1]")) == "ddropped[0,1]");
  CHECK(entry_name(tape, find_entry(tape, "dL[0,0]")) == "dL");
  for (const char* text : {"", "[0,1]", "x[0]", "x[0,1", "x[,1]", "x[0,1]]", "x[-1,0]", "x[0,99999999999]", "x[0;1]", "x[0,1]x"}) {
    INFO(text);
    CHECK_THROWS_AS(find_entry(tape, text), InputError);
  }
  CHECK_THROWS_WITH(find_entry(tape, "x"), "\"x\": x is 1 x 2; say which entry, for example x[0,0]");
  CHECK_THROWS_WITH(find_entry(tape, "x[1,0]"), "\"x[1,0]\": x is 1 x 2; rows and columns are counted from 0");
  CHECK_THROWS_WITH(find_entry(tape, "droped[0,0]"), "\"droped[0,0]\": no line of the tape is called droped, did you mean dropped?");
  CHECK_THROWS_WITH(find_entry(tape, "%9[0,0]"), "\"%9[0,0]\": the tape has no line %9; its last is %3");
  CHECK_THROWS_WITH(find_entry(tape, "d%9[0,0]"), "\"d%9[0,0]\": the tape has no line %9; its last is %3");
  CHECK_THROWS_AS(find_entry(tape, "%1x[0,0]"), InputError);
}
