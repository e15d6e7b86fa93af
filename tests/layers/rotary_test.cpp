// Rotary positions: by ten digits, against PyTorch's complex numbers, and by what a turn must do.
#include "layers/positional/rotary.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/relative_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;
using Pairs = Rotary::Pairs;

static Matrix turned(const Matrix& x, const Rotary& how) {
  Tape tape;
  return Matrix(rotary(tape.input(x, "x"), how).value());
}

TEST_CASE("rotary: both layouts to ten digits") {
  const Matrix X = sines({5, 4}, 1, 3, 1);
  CHECK(difference(turned(X, {.pairs = Pairs::interleaved}),
                   Matrix{{0, 0.8414709848, 0.9092974268, 0.1411200081},
                          {0.7130748068, -0.2901537411, -0.9560822204, -0.2889906105},
                          {-0.4811183480, -0.5274746882, 0.9809185613, 0.4318219101},
                          {-0.3312219445, 0.5967349817, -0.9834454716, -0.5663266847},
                          {0.6687109269, 0.1314402199, 0.9638103977, 0.6893814078}}) == "");
  CHECK(difference(turned(X, {.pairs = Pairs::half}),
                   Matrix{{0, 0.8414709848, 0.9092974268, 0.1411200081},
                          {0.8831544195, -0.7539705471, -0.3993606046, -0.2869694264},
                          {-0.7833430322, 0.6486133856, -0.6657900981, 0.4251749203},
                          {-0.2668755821, -0.5276815467, 1.0481409651, -0.5526496636},
                          {1.1004215836, 0.3938263703, -0.2414244556, 0.6665698793}}) == "");
}

TEST_CASE("rotary: the steps and the op are the same, values and gradients") {
  Rng rng(1);
  for (const Pairs pairs : {Pairs::interleaved, Pairs::half}) {
    for (const int dims : {-1, 4, 2, 0}) {
      const Rotary how{.pairs = pairs, .first = 5, .base = 50, .dims = dims, .spacing = 0.25};
      const Matrix x = random_matrix({4, 6}, rng), dY = random_matrix({4, 6}, rng);
      Tape a, b;
      const Var xa = a.input(x, "x"), xb = b.input(x, "x"), steps = rotary_steps(xa, how), op = rotary(xb, how);
      a.backward(steps, dY);
      b.backward(op, dY);
      CAPTURE(int(pairs), dims);
      CHECK(difference(op.value(), steps.value(), kRounding) == "");
      CHECK(difference(xb.grad(), xa.grad(), kRounding) == "");
      CHECK(bit_difference(op.value().block(0, dims < 0 ? 6 : dims, 4, dims < 0 ? 0 : 6 - dims),
                           x.view().block(0, dims < 0 ? 6 : dims, 4, dims < 0 ? 0 : 6 - dims)) == "");
    }
  }
}

TEST_CASE("rotary: backward turns by the other sign, so backward of forward is the input again") {
  Rng rng(2);
  for (const Pairs pairs : {Pairs::interleaved, Pairs::half}) {
    const Matrix x = random_matrix({4, 6}, rng);
    Tape tape;
    const Var X = tape.input(x, "x"), Y = rotary(X, {.pairs = pairs, .first = 2});
    tape.backward(Y, Matrix(Y.value()));
    CHECK(difference(X.grad(), x, kRounding) == "");
    CHECK(difference(Y.value(), x) != "");
  }
}

TEST_CASE("rotary: position 0 is the identity, and lengths stay") {
  Rng rng(3);
  const Matrix x = random_matrix({1, 6}, rng);
  CHECK(bit_difference(turned(x, {}), x) == "");
  const Matrix y = turned(x, {.first = 1000});
  double before = 0, after = 0;
  for (int c = 0; c < 6; ++c) before += std::pow(double(x(0, c)), 2), after += std::pow(double(y(0, c)), 2);
  CHECK(after == Approx(before).epsilon(kRounding.relative));
}

TEST_CASE("rotary: a score depends on the difference of the positions only") {
  const Matrix q = sines({1, 4}, 1, 3, 1, 0.3), k = cosines({1, 4}, 1, 2, -1, 0.1);
  for (const Pairs pairs : {Pairs::interleaved, Pairs::half}) {
    double scores[3];
    const int places[3][2] = {{3, 1}, {103, 101}, {104, 101}};
    for (int t = 0; t < 3; ++t) {
      const Matrix a = turned(q, {.pairs = pairs, .first = places[t][0]}),
                   b = turned(k, {.pairs = pairs, .first = places[t][1]});
      scores[t] = 0;
      for (int c = 0; c < 4; ++c) scores[t] += double(a(0, c)) * double(b(0, c));
    }
    CHECK(scores[1] == Approx(scores[0]).epsilon(1e-5).margin(1e-6));
    if (kDouble) CHECK(scores[1] == Approx(scores[0]).epsilon(1e-12));
    CHECK(std::fabs(scores[2] - scores[0]) > 0.01);
  }
}

TEST_CASE("rotary: half is interleaved with the columns in another order, and nothing else is") {
  Rng rng(4);
  const Matrix x = random_matrix({5, 6}, rng), y = turned(x, {.pairs = Pairs::interleaved});
  const int order[] = {0, 2, 4, 1, 3, 5};  // even columns, then odd ones
  Matrix x_moved(x.shape()), y_moved(x.shape());
  for (int r = 0; r < 5; ++r)
    for (int c = 0; c < 6; ++c) x_moved(r, c) = x(r, order[c]), y_moved(r, c) = y(r, order[c]);
  CHECK(difference(turned(x_moved, {.pairs = Pairs::half}), y_moved, kRounding) == "");
  CHECK(difference(turned(x, {.pairs = Pairs::half}), y) != "");
}

TEST_CASE("rotary: squeezed positions lie between the old ones; the NTK base slows the slowest pair only") {
  Rng rng(5);
  const Matrix x = random_matrix({8, 6}, rng);
  const Matrix squeezed = turned(x, {.spacing = 0.25});
  CHECK(difference(squeezed.view().block(4, 0, 1, 6), turned(Matrix(x.view().block(4, 0, 1, 6)), {.first = 1}),
                   kRounding) == "");
  const double base = ntk_base(10000, 4, 6);
  CHECK(std::pow(base, -2.0 * 0 / 6) == 1);
  CHECK(std::pow(base, -2.0 * 2 / 6) == Approx(std::pow(10000.0, -2.0 * 2 / 6) / 4).epsilon(1e-12));
  CHECK_THROWS_AS(ntk_base(10000, 4, 2), ShapeError);
}

TEST_CASE("rotary: angles are computed in double, in float too") {
  const Matrix y = turned(Matrix{{1, 0}}, {.first = 1000003});  // half a turn is 3.14; a float step there is 0.06
  CHECK(double(y(0, 0)) == Approx(std::cos(1000003.0)).margin(1e-6));
}

TEST_CASE("rotary: what cannot be cut into pairs is refused") {
  Tape tape;
  const Var x = tape.input(Matrix(Shape{2, 6}), "x");
  CHECK_THROWS_AS(rotary(x, {.dims = 3}), ShapeError);
  CHECK_THROWS_AS(rotary(x, {.dims = 8}), ShapeError);
  CHECK_THROWS_AS(rotary(x, {.base = 0}), ShapeError);
  CHECK_THROWS_AS(rotary(x, {.spacing = INFINITY}), ShapeError);
  CHECK_THROWS_AS(rotary_steps(x, {.dims = 3}), ShapeError);
  CHECK_THROWS_AS(rotary_steps(x, {.dims = 8}), ShapeError);
  CHECK(tape.nodes.size() == 1);
}

// ---- attention

TEST_CASE("rotary attention: values and gradients to ten digits, and decoding row by row") {
  const Mask causal = Mask::causal(5, 5);
  const RotaryAttention rope;
  FiveTokens run(rope, &causal);
  CHECK(difference(run.Y.value().block(4, 0, 1, 3), Matrix{{0.0904034548, -0.1950739952, 0.0719553972}}) == "");
  CHECK(run.fingerprint_of_gradient("Q") == Approx(-0.441169731052).epsilon(kPrinted.relative));
  CHECK(run.fingerprint_of_gradient("K") == Approx(0.375301068078).epsilon(kPrinted.relative));
  check_decoding(rope);
}

TEST_CASE("rotary attention: keys that were turned before they went into a cache give the same rows") {
  const Mask causal = Mask::causal(5, 5);
  FiveTokens all(RotaryAttention(), &causal);
  Tape& tape = all.tape;
  const Var cache = rotary(all.K);
  for (int t = 0; t < 5; ++t) {
    const Var q = rotary(tape.rows(all.Q, t, 1), {.first = t});
    const Var y = plain_attention(q, tape.rows(cache, 0, t + 1), tape.rows(all.V, 0, t + 1));
    CHECK(difference(y.value(), all.Y.value().block(t, 0, 1, 3), kRounding) == "");
  }
}

TEST_CASE("rotary attention: as in PyTorch, in both layouts, with fewer queries than keys") {
  check_against_torch(RotaryAttention({.pairs = Pairs::interleaved, .base = 100}), "interleaved");
  check_against_torch(RotaryAttention({.pairs = Pairs::half, .base = 100}), "half");
}

TEST_CASE("rotary attention: all positions shifted alike change nothing, one layout for the other does") {
  FiveTokens here(RotaryAttention{}), there(RotaryAttention({.first = 57})),
      other(RotaryAttention({.pairs = Pairs::half})), plain(plain_attention);
  CHECK(difference(there.Y.value(), here.Y.value(), kDouble ? Tolerance{1e-10, 1e-10} : kPrinted) == "");
  CHECK(difference(other.Y.value(), here.Y.value()) != "");
  CHECK(difference(plain.Y.value(), here.Y.value()) != "");
}

TEST_CASE("rotary attention: over masks, batches, heads and lengths") {
  check_variant(RotaryAttention({.pairs = Pairs::interleaved, .base = 20}));
  check_variant(RotaryAttention({.pairs = Pairs::half, .first = 3, .dims = 2}));
  check_hidden_nan(RotaryAttention());
}
