// Corners of the ops that tests/mutate.py found unwatched.
#include <cmath>
#include <limits>

#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/op_trial.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

// A row of op_cases.cpp that asks an operand for its shape, to make a mask or a list of that size, cannot be given an
// empty one. These stand in.
static Var build(const OpCase& c, const Var* x) {
  static unsigned char all[64] = {};
  static const int ids[] = {0, 1, 2};
  const std::string op = c.op();
  if (op == "mask") return mask(x[0], Keep{all, 3, 5}, 0);
  if (op == "select") return select(Keep{all, 3, 5}, x[0], x[1]);
  if (op == "drop_hidden") return drop_hidden(x[0], Keep{all, 3, 6});
  if (op == "gather_rows") return gather_rows(x[0], ids, 3);
  if (op == "gather_entries") return gather_entries(x[0], ids, {1, 3});
  if (op == "scatter_entries") return scatter_entries(x[0], ids, {1, 3});
  if (op == "rotary") return rotary(x[0]);
  if (op == "cross_entropy") return cross_entropy(x[0], ids, 3);
  if (op == "attention" || op == "weights_of") return attention(x[0], x[1], x[2], 1);
  if (op == "flash_attention") return flash_attention(x[0], x[1], x[2], 1);
  if (op == "sparse_attention") return sparse_attention(x[0], x[1], x[2], 1, TestPairs(3, 6).pairs);
  return c.build(x);
}

TEST_CASE("every op refuses an empty handle by its own name, at every operand") {
  for (const OpCase& c : op_cases()) {
    for (std::size_t i = 0; i < c.shapes.size(); ++i) {
      DYNAMIC_SECTION(c.name << ", operand " << i) {
        Trial t(c);
        const std::size_t before = t.tape.nodes.size();
        t.x[i] = Var();
        const std::string op = c.op() == "weights_of" ? "attention" : c.op();
        CHECK_THROWS_WITH(build(c, t.x.data()), StartsWith(op + ": ") && ContainsSubstring("is an empty Var"));
        CHECK(t.tape.nodes.size() == before);
      }
    }
  }
}

TEST_CASE("row_max keeps in a replay where the maximum sat, though another entry has overtaken it") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}, {4, 3}}, "x"), y = row_max(x);
  tape.be.copy(Matrix{{5, 2}, {4, 6}}, x.value());
  tape.replay();
  CHECK(bit_difference(y.value(), Matrix{{2}, {4}}) == "");
  tape.backward(y, Matrix{{10}, {20}});
  CHECK(bit_difference(x.grad(), Matrix{{0, 10}, {20, 0}}) == "");
}

TEST_CASE("row_max points at the first of several NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Matrix& row : {Matrix{{nan, 1, nan}}, Matrix{{nan, nan, 2}}}) {
    Tape tape;
    tape.watch_nonfinite = false;
    const Var x = tape.input(row, "x"), y = row_max(x);
    CHECK(std::isnan(y.value()(0, 0)));
    tape.backward(y, Matrix{{3}});
    CHECK(bit_difference(x.grad(), Matrix{{3, 0, 0}}) == "");
  }
}

TEST_CASE("a division by a row or a column sends a gradient of exactly 1 back like any other") {
  Tape tape;
  const Var x = tape.input(Matrix{{2, 6}, {8, 4}}, "x");
  const Var c = tape.input(Matrix{{2}, {4}}, "c"), y = div_col(x, c);  // {1, 3}, {2, 1}
  tape.backward(y, Matrix{{1, 1}, {1, 2}});
  CHECK(bit_difference(x.grad(), Matrix{{0.5, 0.5}, {0.25, 0.5}}) == "");
  CHECK(bit_difference(c.grad(), Matrix{{-2}, {-1}}) == "");

  tape.rewind();
  const Var m = tape.input(Matrix{{2, 8}, {6, 4}}, "m");
  const Var r = tape.input(Matrix{{2, 4}}, "r"), z = div_row(m, r);  // {1, 2}, {3, 1}
  tape.backward(z, Matrix{{1, 1}, {1, 2}});
  CHECK(bit_difference(m.grad(), Matrix{{0.5, 0.25}, {0.5, 0.5}}) == "");
  CHECK(bit_difference(r.grad(), Matrix{{-2, -1}}) == "");
}

TEST_CASE("a division by a row or a column whose sum of gradients is 1 changes the divisor") {
  Tape tape;
  const Var x = tape.input(Matrix{{2, 4}}, "x"), c = tape.input(Matrix{{2}}, "c");
  tape.backward(div_col(x, c), Matrix{{3, -1}});  // Σ dy y = 3·1 - 1·2 = 1
  CHECK(bit_difference(c.grad(), Matrix{{-0.5}}) == "");

  tape.rewind();
  const Var m = tape.input(Matrix{{2}, {4}}, "m"), r = tape.input(Matrix{{2}}, "r");
  tape.backward(div_row(m, r), Matrix{{3}, {-1}});
  CHECK(bit_difference(r.grad(), Matrix{{-0.5}}) == "");
}

// x / 0 is infinite and the slopes there too, yet what nobody asked for must not come back as 0 · inf = NaN.
TEST_CASE("a division by a row or a column of zeros sends nothing back where no gradient arrives") {
  Tape tape;
  tape.watch_nonfinite = false;
  const Var x = tape.input(Matrix{{1, 2}, {3, 4}}, "x"), c = tape.input(Matrix{{0}, {2}}, "c");
  tape.backward(div_col(x, c), Matrix{{0, 0}, {2, 4}});
  CHECK(bit_difference(x.grad(), Matrix{{0, 0}, {1, 2}}) == "");
  CHECK(bit_difference(c.grad(), Matrix{{0}, {-5.5}}) == "");

  tape.rewind();
  const Var m = tape.input(Matrix{{1, 3}, {2, 4}}, "m"), r = tape.input(Matrix{{0, 2}}, "r");
  tape.backward(div_row(m, r), Matrix{{0, 2}, {0, 4}});
  CHECK(bit_difference(m.grad(), Matrix{{0, 1}, {0, 2}}) == "");
  CHECK(bit_difference(r.grad(), Matrix{{0, -5.5}}) == "");
}

// The dot product of a row's weights and gradients overflows, from scores that are as harmless as can be. (In float it
// runs in double and cannot.)
TEST_CASE("a softmax whose gradient overflows blames no single score") {
  if (!kDouble) return;
  Tape tape;
  tape.watch_nonfinite = true;
  const Real most = std::numeric_limits<Real>::max();
  const Var e = tape.input(Matrix{{-2, 2}}, "E"), a = softmax(e);
  CHECK_THROWS_WITH(tape.backward(a, Matrix{{most, -most}}), ContainsSubstring("from %0 input \"E\", 1 x 2\n"));
}

TEST_CASE("cross_entropy refuses a smoothing that is not from 0 to below 1") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}}, "x");
  const int target[] = {1};
  for (double smoothing : {-0.1, 1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(cross_entropy(x, target, 1, {-1, smoothing}), InputError);
  }
  CHECK(tape.nodes.size() == 1);
}
