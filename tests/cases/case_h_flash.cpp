// Theme H: attention in tiles. Each test is named after its case.
#include <cmath>

#include "layers/attention/flash.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

// Entries are multiples of 1/32 (of dY: 1/8), so they are exact in float.
static Matrix grid(Shape s, int a, int b, int c, int modulus) {
  Matrix m(s);
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.cols; ++j) m(i, j) = Real((a * i + b * j + c) % modulus * 2.0 / modulus - 1);
  return m;
}

namespace {
struct Attended {
  Tape tape;
  Var Q, K, V, Y;

  Attended(const Variant& variant, int n, int m, int width, const Mask* allowed = nullptr) {
    Q = tape.input(grid({n, width}, 37, 11, 5, 64), "Q");
    K = tape.input(grid({m, width}, 29, 17, 3, 64), "K");
    V = tape.input(grid({m, width}, 13, 7, 1, 64), "V");
    Y = variant(Q, K, V, {.allowed = allowed});
    tape.backward(Y, grid({n, width}, 5, 3, 2, 16));
  }
};

struct Want {
  double sum;
  Matrix first, last;
  double dQ, dK, dV;  // sums of absolute values
  Matrix dQ_last, dK_last, dV_last;
};
}  // namespace

static double total(Mat m, bool absolute) {
  double sum = 0;
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.cols; ++j) sum += absolute ? std::fabs(double(m(i, j))) : double(m(i, j));
  return sum;
}

static Approx printed(double want) { return Approx(want).epsilon(kPrinted.relative).margin(kPrinted.absolute); }

static Mat last_row(Mat m) { return m.block(m.rows - 1, 0, 1, m.cols); }

static void check(const Attended& a, const Want& want) {
  CHECK(total(a.Y.value(), false) == printed(want.sum));
  CHECK(difference(a.Y.value().block(0, 0, 1, a.Y.shape().cols), want.first) == "");
  CHECK(difference(last_row(a.Y.value()), want.last) == "");
  CHECK(total(a.Q.grad(), true) == printed(want.dQ));
  CHECK(total(a.K.grad(), true) == printed(want.dK));
  CHECK(total(a.V.grad(), true) == printed(want.dV));
  CHECK(difference(last_row(a.Q.grad()), want.dQ_last) == "");
  CHECK(difference(last_row(a.K.grad()), want.dK_last) == "");
  CHECK(difference(last_row(a.V.grad()), want.dV_last) == "");
}

static void check_same(const Attended& a, const Attended& b) {
  CHECK(difference(a.Y.value(), b.Y.value(), kRounding) == "");
  CHECK(difference(a.Q.grad(), b.Q.grad(), kRounding) == "");
  CHECK(difference(a.K.grad(), b.K.grad(), kRounding) == "");
  CHECK(difference(a.V.grad(), b.V.grad(), kRounding) == "");
}

TEST_CASE("H01 lengths that are no multiple of the tile") {
  const FlashAttention flash;  // tiles of 32
  const Mask one = Mask::causal(1, 1), many = Mask::causal(33, 33);
  check(Attended(flash, 1, 1, 3, &one), {-2.25, Matrix{{-0.96875, -0.75, -0.53125}}, Matrix{{-0.96875, -0.75, -0.53125}}, 0, 0, 1.125, Matrix{{0, 0, 0}},
                                         Matrix{{0, 0, 0}}, Matrix{{-0.75, -0.375, 0}}});
  check(Attended(flash, 33, 33, 3, &many), {-11.29791695, Matrix{{-0.96875, -0.75, -0.53125}}, Matrix{{-0.09704130235, -0.001536756886, -0.05282845497}},
                                            2.887261029, 2.924932753, 8.692287185, Matrix{{-0.02796904799, -0.004273636859, -0.004746520234}},
                                            Matrix{{-0.0004242940198, -0.001357740863, -0.002291187707}}, Matrix{{-0.01851278528, -0.009256392638, 0}}});
  for (int n : {31, 32, 33, 63, 64, 65}) {
    CAPTURE(n);
    const Mask causal = Mask::causal(n, n);
    check_same(Attended(flash, n, n, 3, &causal), Attended(plain_attention, n, n, 3, &causal));
  }
}

TEST_CASE("H03 more keys than queries") {
  const Attended a(FlashAttention(), 3, 70, 4);
  check(a, {-0.3182128671, Matrix{{-0.05670327228, -0.01625609117, -0.02859514753, -0.0263333583}},
            Matrix{{-0.05211481935, -0.02479308753, -0.04170616287, -0.01621280837}}, 0.1037742155, 0.661848475, 2.541248011,
            Matrix{{-0.0001009180252, 0.001969448069, -0.001415002417, 0.001520757822}},
            Matrix{{-0.002809870673, -0.002450202466, -0.0009023123445, -0.0005426441379}},
            Matrix{{-0.005066781891, 0.009269411783, -0.002553750795, -0.01143678208}}});
  check_same(a, Attended(plain_attention, 3, 70, 4));
}

TEST_CASE("H05 ten backward runs give the same bits") {
  const Mask causal = Mask::causal(200, 200);
  const Attended first(FlashAttention(), 200, 200, 16, &causal);
  for (int run = 1; run < 10; ++run) {
    const Attended again(FlashAttention(), 200, 200, 16, &causal);
    CHECK(bit_difference(again.Y.value(), first.Y.value()) == "");
    CHECK(bit_difference(again.Q.grad(), first.Q.grad()) == "");
    CHECK(bit_difference(again.K.grad(), first.K.grad()) == "");
    CHECK(bit_difference(again.V.grad(), first.V.grad()) == "");
  }
  CHECK(total(first.Q.grad(), true) > 0.1);
}
