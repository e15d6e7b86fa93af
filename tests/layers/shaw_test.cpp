// Shaw's relative positions: ten digits, PyTorch, the definition spelled out, and the grid.
#include "layers/positional/shaw.h"

#include "engine/gradcheck.h"
#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/relative_fixture.h"
#include "tests/layers/variant_grid.h"
#include "tests/reference_file.h"

using namespace glass;

namespace {
struct Tables {  // for distances up to 2, width 4 and 3
  Rng rng{1};
  ParamStore store;
  Shaw shaw;
  explicit Tables(int d_v = 3) : shaw(store, "", 2, 4, d_v, rng) {
    shaw.aK->set(sines({5, 4}, 0.3, 2, 1, 0.4));
    shaw.aV->set(cosines({5, d_v}, 0.3, 1, 2, 0.9));
  }
};
}  // namespace

TEST_CASE("shaw: values and gradients to ten digits") {
  Tables t;
  FiveTokens run(t.shaw);
  CHECK(difference(run.Y.value(), Matrix{{0.0845199457, 0.0915017932, -0.1606763093},
                                         {0.0647144601, -0.1829119181, 0.0875219721},
                                         {0.0599187043, -0.1606119278, 0.0737575870},
                                         {0.1000846574, -0.4771199561, 0.2970192634},
                                         {0.1632274283, -0.3565071153, 0.1334911882}}) == "");
  CHECK(fingerprint(t.shaw.aK->grad) == Approx(-0.123041677199).epsilon(kPrinted.relative));
  CHECK(fingerprint(t.shaw.aV->grad) == Approx(-0.0318418938428).epsilon(kPrinted.relative));
  CHECK(run.fingerprint_of_gradient("Q") == Approx(0.369048292365).epsilon(kPrinted.relative));
}

TEST_CASE("shaw: as in PyTorch, with fewer queries than keys; both tables' gradients too") {
  Tables t(4);
  check_against_torch(t.shaw, "shaw");
  const ReferenceFile torch("positions.txt");
  CHECK(difference(t.shaw.aK->grad, torch["shaw.daK"]) == "");
  CHECK(difference(t.shaw.aV->grad, torch["shaw.daV"]) == "");
}

TEST_CASE("shaw: the regrouped sum is the definition, values and all gradients") {
  Mask causal = Mask::causal(3, 5), scattered(3, 5);
  for (int j = 0; j < 5; ++j) scattered.set(1, j, false), scattered.set(2, j, j % 2 == 0);  // query 1 sees nothing
  for (const Mask* mask :
       {static_cast<const Mask*>(nullptr), static_cast<const Mask*>(&causal), static_cast<const Mask*>(&scattered)}) {
    Tables t;
    Rng rng(2);
    const Matrix q = random_matrix({3, 4}, rng), k = random_matrix({5, 4}, rng), v = random_matrix({5, 3}, rng),
                 dY = random_matrix({3, 3}, rng);
    Tape a, b;
    const Var Qa = a.input(q, "Q"), Ka = a.input(k, "K"), Va = a.input(v, "V"),
              Ya = t.shaw(Qa, Ka, Va, {.allowed = mask});
    a.backward(Ya, dY);
    const Var Qb = b.input(q, "Q"), Kb = b.input(k, "K"), Vb = b.input(v, "V");
    const Var aK = b.input(t.shaw.aK->value, "aK"), aV = b.input(t.shaw.aV->value, "aV"),
              Yb = shaw_steps(Qb, Kb, Vb, aK, aV, mask);
    b.backward(Yb, dY);
    CHECK(difference(Ya.value(), Yb.value(), kRounding) == "");
    CHECK(difference(Qa.grad(), Qb.grad(), kRounding) == "");
    CHECK(difference(Ka.grad(), Kb.grad(), kRounding) == "");
    CHECK(difference(Va.grad(), Vb.grad(), kRounding) == "");
    CHECK(difference(t.shaw.aK->grad, aK.grad(), kRounding) == "");
    CHECK(difference(t.shaw.aV->grad, aV.grad(), kRounding) == "");
  }
}

TEST_CASE("shaw: the gradients of both tables agree with differences, and decoding row by row with the matrix") {
  Tables t;
  check_parameter(t.shaw, *t.shaw.aK);
  check_parameter(t.shaw, *t.shaw.aV);
  check_decoding(t.shaw);
}

TEST_CASE("shaw: tables of zeros are plain attention") {
  Rng rng(3);
  ParamStore store;
  Shaw shaw(store, "", 2, 4, 3, rng);
  shaw.aK->set(Matrix(Shape{5, 4}));
  shaw.aV->set(Matrix(Shape{5, 3}));
  FiveTokens zeros(shaw), plain(plain_attention);
  CHECK(difference(zeros.Y.value(), plain.Y.value(), kRounding) == "");
}

TEST_CASE("shaw: keys beyond k places share a row and may move without a change") {
  Tables t;
  Rng rng(4);
  const Matrix q = random_matrix({1, 4}, rng), v = random_matrix({6, 3}, rng);
  Matrix k = random_matrix({6, 4}, rng), v_moved(v), k_moved(k);
  for (int c = 0; c < 4; ++c) k_moved(0, c) = k(2, c), k_moved(2, c) = k(0, c);  // 5 and 3 away
  for (int c = 0; c < 3; ++c) v_moved(0, c) = v(2, c), v_moved(2, c) = v(0, c);
  Tape tape;
  const Var Q = tape.input(q, "Q");
  const Var here = t.shaw(Q, tape.input(k, "K"), tape.input(v, "V")),
            there = t.shaw(Q, tape.input(k_moved, "K"), tape.input(v_moved, "V"));
  CHECK(difference(there.value(), here.value(), kRounding) == "");
}

TEST_CASE("shaw: each head reads its own part of a wide table; a table that does not fit is refused") {
  Rng rng(5);
  ParamStore store;
  Shaw wide(store, " wide", 1, 4, 3, rng, 2), second(store, " second", 1, 4, 3, rng);
  second.aK->set(wide.aK->value.view().block(0, 4, 3, 4));
  second.aV->set(wide.aV->value.view().block(0, 3, 3, 3));
  Tape tape;
  const Var Q = tape.input(random_matrix({3, 4}, rng), "Q"), V = tape.input(random_matrix({3, 3}, rng), "V");
  CHECK(bit_difference(wide(Q, Q, V, {.head = 1, .heads = 2}).value(), second(Q, Q, V).value()) == "");
  CHECK_THROWS_AS(wide(Q, Q, V, {.head = 2, .heads = 3}), ShapeError);
  CHECK_THROWS_AS(wide(Q, Q, Q), ShapeError);
}

TEST_CASE("shaw: over masks, batches, heads and lengths") {
  Rng rng(6);
  ParamStore store;
  check_variant(Shaw(store, " shared", 2, 4, 4, rng));
  check_variant(Shaw(store, " apart", 1, 4, 4, rng, 4));
  check_hidden_nan(Shaw(store, " third", 2, 4, 4, rng));
}
