// Theme D: the tape. Accumulation, reuse, depth, mutation, broadcasting. Each test is named after its case.
#include <pthread.h>

#include <algorithm>
#include <ctime>

#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static Var number(Tape& tape, double x, const char* name) { return tape.input(Matrix{{x}}, name); }
static Real value(Var x) { return x.value()(0, 0); }
static Real gradient(Var x) { return x.grad()(0, 0); }

TEST_CASE("D01 a value used on several paths passes its gradient on once") {
  Tape tape;
  const Var x = number(tape, 1, "x"), a = number(tape, 1, "a");
  const Var xa = mul(x, a);
  const Var f = add(add(mul(x, xa), mul(x, xa)), mul(mul(x, x), a));
  tape.backward(f);
  CHECK(value(f) == 3);
  CHECK(gradient(x) == 6);
}

TEST_CASE("D03 a line is swept after every line that uses it") {
  Tape tape;
  const Var a = number(tape, 2, "a"), b = number(tape, 3, "b");
  const Var c = add(a, b), d = mul(a, b), e = add(c, d), f = mul(c, d);
  const Var y = add(e, f);
  tape.backward(y);
  CHECK(value(y) == 41);
  CHECK(gradient(a) == 25);
  CHECK(gradient(b) == 19);
}

static Real slope_of_both(Var (*op)(Var, Var, Where)) {
  Tape tape;
  const Var x = number(tape, 3, "x");
  tape.backward(op(x, x, {}));
  return gradient(x);
}

TEST_CASE("D05 the same line as both operands") {
  CHECK(slope_of_both(mul) == 6);
  CHECK(slope_of_both(add) == 2);
  CHECK(slope_of_both(sub) == 0);
  CHECK(slope_of_both(div) == 0);
}

static Matrix gradient_of_product(Var (*product)(Var, Var, Where)) {
  Tape tape;
  const Var A = tape.input(Matrix{{1, 2}, {3, 4}}, "A");
  tape.backward(sum(product(A, A, {})));
  return Matrix(A.grad());
}

TEST_CASE("D06 one matrix as both sides of a product, plain and transposed") {
  CHECK(difference(gradient_of_product(matmul), Matrix{{7, 11}, {9, 13}}, {0, 0}) == "");
  CHECK(difference(gradient_of_product(matmul_nt), Matrix{{8, 12}, {8, 12}}, {0, 0}) == "");
}

namespace {
// A chain of negations of x = 1, made, perhaps swept, and freed.
struct Chain {
  int length;
  bool sweep;
  Real y = 0, dy_dx = 0;
  double seconds = 0;  // of processor time
};
}  // namespace

static void* run_chain(void* argument) {
  Chain& chain = *static_cast<Chain*>(argument);
  const std::clock_t start = std::clock();
  {
    Tape tape;
    const Var x = number(tape, 1, "x");
    Var y = x;
    for (int i = 0; i < chain.length; ++i) y = neg(y);
    chain.y = value(y);
    if (chain.sweep) {
      tape.backward(y);
      chain.dy_dx = gradient(x);
    }
  }
  chain.seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
  return nullptr;
}

// Recursion, even a hundred bytes a line, would not fit in 64 KiB.
static void run_on_small_stack(Chain& chain) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &attributes, run_chain, &chain) == 0);
  REQUIRE(pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}

TEST_CASE("D09 a chain of 100000 lines needs no deep stack: forward, backward, freed") {
  Chain even{100000, true}, odd{100001, true};
  run_on_small_stack(even);
  CHECK(even.y == 1);
  CHECK(even.dy_dx == 1);
  run_on_small_stack(odd);
  CHECK(odd.y == -1);
  CHECK(odd.dy_dx == -1);
}

TEST_CASE("D09 a chain of 100000 lines that is dropped unused") {
  Chain chain{100000, false};
  run_on_small_stack(chain);
  CHECK(chain.y == 1);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool kTimesMeanSomething = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
static const bool kTimesMeanSomething = false;
#else
static const bool kTimesMeanSomething = true;
#endif
#else
static const bool kTimesMeanSomething = true;
#endif

static double best_time(int length) {
  double best = 1e9;
  for (int run = 0; run < 5; ++run) {
    Chain chain{length, true};
    run_chain(&chain);
    best = std::min(best, chain.seconds);
  }
  return best;
}

TEST_CASE("D09 a chain of double length takes at most three times as long") {
  if (!kTimesMeanSomething) return;
  // Long enough for both to get fresh memory from the system: a shorter chain may find warm memory in the heap.
  const double once = best_time(200000), twice = best_time(400000);
  CAPTURE(once, twice);
  CHECK(twice <= 3 * once);
}

TEST_CASE("D11 a value that was changed after its use is an error, never a wrong gradient") {
  Tape tape;
  const Var x = number(tape, 2, "x");
  const Var y = mul(x, x);
  tape.set(x, Matrix{{10}});
  CHECK_THROWS_AS(tape.backward(y), TapeError);

  tape.replay();  // now value and gradient belong together again
  tape.backward(y);
  CHECK(value(y) == 100);
  CHECK(gradient(x) == 20);
}

TEST_CASE("D13 the gradient of a row, a column or a number that was used everywhere has its own shape") {
  Tape tape;
  const Var x = tape.input(Matrix(Shape{3, 4}), "x");
  const Var row = tape.input(Matrix(Shape{1, 4}), "row"), col = tape.input(Matrix(Shape{3, 1}), "col");
  const Var scalar = number(tape, 0, "scalar");
  tape.backward(add_scalar(add_col(add_row(x, row), col), scalar), Matrix{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}});
  CHECK(difference(row.grad(), Matrix{{15, 18, 21, 24}}, {0, 0}) == "");
  CHECK(difference(col.grad(), Matrix{{10}, {26}, {42}}, {0, 0}) == "");
  CHECK(difference(scalar.grad(), Matrix{{78}}, {0, 0}) == "");
}

// Both gradients of op(x, y) for a seed of ones.
static void check_ones(Var (*op)(Var, Var, Where), Shape s) {
  CAPTURE(s.rows, s.cols);
  Matrix ones(s);
  for (int j = 0; j < s.cols; ++j) ones(0, j) = 1;
  Tape tape;
  const Var x = tape.input(Matrix(s), "x"), y = tape.input(Matrix(s), "y");
  tape.backward(op(x, y, {}), ones);
  CHECK(difference(x.grad(), ones, {0, 0}) == "");
  CHECK(difference(y.grad(), ones, {0, 0}) == "");
}

TEST_CASE("D15 where there is nothing to reduce, a gradient keeps its shape") {
  check_ones(add, {1, 5});
  check_ones(add_row, {1, 5});
  check_ones(add, {1, 1});
  check_ones(add_row, {1, 1});
  check_ones(add_col, {1, 1});
  check_ones(add_scalar, {1, 1});
}

TEST_CASE("D16 backward from a matrix wants a seed of its shape") {
  const Matrix two{{2, 2}, {2, 2}};
  Tape tape;
  const Var x = tape.input(Matrix{{1, 2}, {3, 4}}, "x");
  const Var y = mul(x, tape.constant(two, "two"));
  CHECK_THROWS_AS(tape.backward(y), TapeError);
  CHECK_THROWS_WITH(tape.backward(y), ContainsSubstring("2 x 2") && ContainsSubstring("seed"));
  CHECK_THROWS_AS(tape.backward(y, Matrix(Shape{2, 3})), ShapeError);
  CHECK_THROWS_WITH(tape.backward(y, Matrix(Shape{2, 3})), ContainsSubstring("2 x 3"));

  tape.backward(y, Matrix{{1, 2}, {3, 4}});
  CHECK(difference(x.grad(), Matrix{{2, 4}, {6, 8}}, {0, 0}) == "");
}

TEST_CASE("D17 nothing goes back through detach") {
  Tape tape;
  const Var x = number(tape, 3, "x");
  const Var fixed = detach(x);
  tape.backward(mul(x, fixed));
  CHECK(gradient(x) == 3);
  CHECK(!fixed.has_grad());
  CHECK_THROWS_AS(fixed.grad(), TapeError);
}

TEST_CASE("D17 a NoGrad block of 1000 operations leaves no line on the tape") {
  Tape tape;
  const Var x = number(tape, 3, "x");
  const Var y = mul(x, x);
  const std::size_t before = tape.nodes.size();
  {
    const NoGrad block(tape);
    Var z = y;
    for (int i = 0; i < 1000; ++i) z = neg(z);
    CHECK(value(z) == 9);
    CHECK(!tape.node(z).needs_grad);
  }
  CHECK(tape.nodes.size() == before);
  tape.backward(mul(y, x));  // x^3: what came before and comes after is recorded as ever
  CHECK(gradient(x) == 27);
}

TEST_CASE("D19 an entry that is gathered twice gets both gradients") {
  const int twice[] = {0, 0};
  Tape tape;
  const Var x = number(tape, 0.1, "x");
  tape.backward(gather_rows(x, twice, 2), Matrix{{0.25}, {0.5}});
  CHECK(gradient(x) == Real(0.75));
}

TEST_CASE("D21 a matrix that is sliced twice gets both gradients") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 1}}, "x");
  const Var left = tape.view(x, 0, 0, 1, 2), right = tape.view(x, 0, 0, 1, 2);
  const Var y = add(mul(left, tape.constant(Matrix{{1, 2}}, "g")), mul(right, tape.constant(Matrix{{10, 20}}, "h")));
  tape.backward(sum(y));
  CHECK(difference(x.grad(), Matrix{{11, 22}}, {0, 0}) == "");
}

TEST_CASE("D21 slices that overlap add up where they do") {
  Tape tape;
  const Var x = tape.input(Matrix{{1, 1, 1}}, "x");
  tape.backward(add(tape.view(x, 0, 0, 1, 2), tape.view(x, 0, 1, 1, 2)), Matrix{{1, 10}});
  CHECK(difference(x.grad(), Matrix{{1, 11, 10}}, {0, 0}) == "");
}

TEST_CASE("D22 the gradient of a sum is spread along the axis that was summed") {
  const Matrix zeros(Shape{2, 3});
  {
    Tape tape;
    const Var x = tape.input(zeros, "x");
    tape.backward(row_sum(x), Matrix{{1}, {10}});
    CHECK(difference(x.grad(), Matrix{{1, 1, 1}, {10, 10, 10}}, {0, 0}) == "");
  }
  {
    Tape tape;
    const Var x = tape.input(zeros, "x");
    tape.backward(col_sum(x), Matrix{{1, 10, 100}});
    CHECK(difference(x.grad(), Matrix{{1, 10, 100}, {1, 10, 100}}, {0, 0}) == "");
  }
  {
    Tape tape;
    const Var x = tape.input(zeros, "x");
    tape.backward(mean(x));
    const double sixth = 0.1666666667;
    CHECK(difference(x.grad(), Matrix{{sixth, sixth, sixth}, {sixth, sixth, sixth}}) == "");
  }
}
