// The stopwatch of a tape: what it counts, sums up, and leaves alone.
#include "engine/profile.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "engine/ops.h"
#include "engine/params.h"
#include "engine/recompute.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {

struct SlowOp final : Op {  // takes some milliseconds each way
  int forward_ms, backward_ms;
  SlowOp(int f, int b) : forward_ms(f), backward_ms(b) {}
  const char* name() const override { return "slow"; }
  void forward(Step& s) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(forward_ms));
    s.be.copy(s.x[0], s.y);
  }
  void backward(Step& s) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(backward_ms));
    s.be.add_scaled(1, s.dy, s.dx[0]);
  }
};

Var slow(Var x, int forward_ms, int backward_ms, Where where = {}) {
  return x.tape->record<SlowOp>(x.shape(), {x}, where, forward_ms, backward_ms);
}

struct FailingOp final : Op {
  const char* name() const override { return "failing"; }
  void forward(Step&) override { throw InputError("as asked"); }
  void backward(Step&) override {}
};

// Y = tanh(X W) ∘ X: three ops over two leaves
Var record(Tape& tape) {
  const Var X = tape.input(sines({3, 3}, 1, 1, 2), "X"), W = tape.constant(cosines({3, 3}, 1, 1, 2), "W");
  return mul(tanh(matmul(X, W)).named("H"), X).named("Y");
}

const Profile::Line& line_of(const Profile& p, const std::string& op) {
  const auto found = std::find_if(p.lines.begin(), p.lines.end(), [&](const Profile::Line& l) { return l.op == op; });
  REQUIRE(found != p.lines.end());
  return *found;
}

struct TanhAndSlow final : Recomputable {
  Var run(Tape&, const Var* in) override { return slow(tanh(in[0]), 3, 2); }
};

const Limits kLimits{2, 100e9, 20e9, 50e9, 10e9};

}  // namespace

TEST_CASE("without a profile nothing is timed, and a profile that is taken off stops") {
  Profile p;
  Tape tape;
  CHECK(tape.profile == nullptr);
  const Var Y = record(tape);
  tape.backward(Y, sines({3, 3}, 1, 1, 1));
  CHECK(p.lines.empty());
  tape.profile = &p;
  tape.replay();
  tape.profile = nullptr;
  tape.replay();
  tape.backward(Y, sines({3, 3}, 1, 1, 1));
  CHECK(p.lines.size() == 3);
  for (const Profile::Line& l : p.lines) CHECK((l.forward.calls == 1 && l.backward.calls == 0));
}

TEST_CASE("every op has one call forward and one back; leaves and views have none") {
  Profile p;
  Tape tape;
  tape.profile = &p;
  const Var Y = record(tape);
  tape.backward(tape.rows(Y, 0, 1), Matrix{{1, 2, 3}});
  REQUIRE(p.lines.size() == 3);
  const char* ops[] = {"matmul", "tanh", "mul"};
  for (int i = 0; i < 3; ++i) {
    const Profile::Line& l = p.lines[std::size_t(i)];
    CHECK(std::string(l.op) == ops[i]);
    CHECK(l.id == 2 + i);
    CHECK(l.parent == -1);
    CHECK(l.forward.calls == 1);
    CHECK(l.backward.calls == 1);
    CHECK(std::string(l.where.file).find("profile_test") != std::string::npos);
  }
  CHECK(p.lines[1].name == "H");  // given after the line was recorded
  CHECK(p.lines[0].forward.cost.flops == 2 * 27);
  CHECK(p.lines[0].backward.cost.flops == 2 * 27);  // W is a constant
  CHECK(p.runs() == 1);
}

TEST_CASE("a line counts with its fastest run, and the sums are those of the lines") {
  Profile p;
  Tape tape;
  tape.profile = &p;
  const Var x = tape.input(Matrix{{1, 2}}, "x");
  const Var first = slow(x, 4, 2), y = add(first, slow(x, 1, 1));
  tape.backward(y, Matrix{{1, 1}});
  for (int i = 0; i < 3; ++i) {
    tape.replay();
    tape.backward(y, Matrix{{1, 1}});
  }
  CHECK(p.runs() == 4);
  const Profile::Line& l = line_of(p, "slow");
  CHECK(l.forward.calls == 4);
  CHECK(l.backward.calls == 4);
  CHECK(l.forward.least >= 3.9e6);
  CHECK(l.backward.least >= 1.9e6);
  CHECK(l.forward.total >= 4 * l.forward.least);
  CHECK(l.ns(p.runs()) == Approx(l.forward.least + l.backward.least));
  double sum = 0, in_ops = 0, calls = 0;
  for (const Profile::Line& line : p.lines) sum += line.ns(4);
  for (const Profile::Total& t : p.by_op()) in_ops += t.ns, calls += t.calls;
  CHECK(p.ns() == Approx(sum));
  CHECK(in_ops == Approx(sum));
  CHECK(calls == 6);
  REQUIRE(p.by_op().size() == 2);
  CHECK(p.by_op()[0].op == "slow");
  CHECK(p.by_op()[0].calls == 4);
  CHECK(p.by_time()[0].forward.least >= p.by_time()[1].forward.least);
  CHECK(p.cost().flops == 4 + 2 * 4 + 2 + 4);  // twice slow: 1 and 2 for each entry; add: 1, and 1 for each gradient
}

TEST_CASE("steps that are recorded anew add up, line by line") {
  Profile p;
  Tape tape;
  tape.profile = &p;
  for (int step = 0; step < 5; ++step) {
    tape.rewind();
    tape.backward(record(tape), sines({3, 3}, 1, 1, 1));
  }
  CHECK(p.lines.size() == 3);
  CHECK(p.runs() == 5);
  for (const Profile::Line& l : p.lines) CHECK((l.forward.calls == 5 && l.backward.calls == 5));
  CHECK(p.cost().flops == line_of(p, "matmul").cost(5).flops + line_of(p, "tanh").cost(5).flops + line_of(p, "mul").cost(5).flops);

  tape.rewind();  // another shape at the same place is another line
  const Var x = tape.input(sines({2, 2}, 1, 1, 1), "x");
  matmul(x, x);
  CHECK(p.lines.size() == 4);
  p.clear();
  CHECK(p.lines.empty());
  CHECK(p.runs() == 0);
  tape.replay();
  CHECK(p.lines.size() == 1);
}

TEST_CASE("what runs inside recompute is counted there, and not again outside") {
  Profile p;
  Tape tape;
  tape.profile = &p;
  TanhAndSlow block;
  const Var x = tape.input(Matrix{{0.5, 0.25}}, "x");
  const Var y = recompute(block, &x, 1);
  tape.backward(y, Matrix{{1, 1}});
  const int others = 7;  // the fastest of eight, whatever else the machine does
  for (int i = 0; i < others; ++i) {
    tape.replay();
    tape.backward(y, Matrix{{1, 1}});
  }
  REQUIRE(p.lines.size() == 3);
  const Profile::Line& outer = line_of(p, "recompute");
  const Profile::Line& inner = line_of(p, "slow");
  CHECK(outer.parent == -1);
  CHECK(p.lines[std::size_t(inner.parent)].id == y.id);
  CHECK(inner.forward.calls == 2 * 8);  // once for the value, once more on the way back
  CHECK(inner.backward.calls == 8);
  CHECK(p.runs() == 8);
  CHECK(inner.ns(8) >= 2 * 2.9e6 + 1.9e6);
  CHECK(outer.forward.least < 1e6);
  CHECK(outer.backward.least < 1e6);
  CHECK(p.ns() < 1.5 * inner.ns(8));
}

TEST_CASE("a profile changes no bit, and survives an op that throws") {
  Tape plain, timed;
  Profile p;
  timed.profile = &p;
  const Var a = record(plain), b = record(timed);
  CHECK(bit_difference(a.value(), b.value()) == "");
  plain.backward(a, sines({3, 3}, 1, 1, 1));
  timed.backward(b, sines({3, 3}, 1, 1, 1));
  CHECK(bit_difference(plain.find("X").grad(), timed.find("X").grad()) == "");
  CHECK_THROWS_AS(timed.record<FailingOp>(Shape{1, 1}, {b}, Where()), InputError);
  timed.clear_gradients();
  const Var c = neg(b);
  CHECK(line_of(p, "neg").parent == -1);
  CHECK(line_of(p, "neg").id == c.id);
}

TEST_CASE("the table names every op, the slowest line first, and says what the numbers mean") {
  Profile p;
  CHECK(p.table(kLimits, {}) == "   no op has run\n");
  Tape tape;
  tape.profile = &p;
  const Var X = tape.input(sines({3, 3}, 1, 1, 2), "X");
  Var Y = slow(X, 2, 1).named("S");
  for (int i = 0; i < 30; ++i) Y = neg(Y);
  tape.backward(Y, sines({3, 3}, 1, 1, 1));
  p.step_ns = 2 * p.ns();
  const std::string text = p.table(kLimits, {});
  INFO(text);
  for (const char* part : {"slow", "neg", "…ile_test.cpp:", "all ops", "the rest", "a step", "11 more lines", "peak of 100 GFLOP/s", "20.0 GB/s", "5.00", "(memory)"})
    CHECK(text.find(part) != std::string::npos);
  const std::size_t lines = text.find("recorded at");
  CHECK(text.find("%1 slow S", lines) < text.find(" neg", lines));
  CHECK(p.table(kLimits, {}, 100).find("more lines") == std::string::npos);
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    CHECK(display_width(text.substr(at, end - at)) <= 80);
  }
}

TEST_CASE("the limits of the machine are numbers that a machine can have") {
  const Limits l = measure_limits();
  CHECK(l.threads >= 1);
  for (double x : {l.flops, l.flops_of_one}) CHECK((x > 1e8 && x < 1e14));
  for (double x : {l.bytes, l.bytes_of_one}) CHECK((x > 1e8 && x < 1e13));
  CHECK(l.flops > 0.5 * l.flops_of_one);
}
