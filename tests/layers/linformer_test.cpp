// Linformer: by numbers that were computed elsewhere, and how its projections are shared.
#include "layers/attention/linformer.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/efficient_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

namespace {
struct Given {
  ParamStore store;
  Rng rng{1};
  Linformer variant;
  Given(int slots, int positions, Sharing sharing = Sharing::heads, int heads = 1) : variant(store, "", slots, positions, rng, sharing, heads) {}
};
}  // namespace

TEST_CASE("linformer: values and all gradients to ten digits") {
  Given given(2, 6);
  Param &E = *given.variant.E[0], &F = *given.variant.F[0];
  E.set(cosines({2, 6}, 0.5, 1, 2, 0.3));
  F.set(sines({2, 6}, 0.5, 2, 1, 0.1));
  OneHead head(given.variant, nullptr, 6, 6);
  CHECK(difference(head.Y.value().block(0, 0, 1, 3), Matrix{{0.9652213862, -0.3046329780, -0.7116772860}}) == "");
  CHECK(fingerprint(head.Q.grad()) == Approx(0.60557353837).epsilon(kPrinted.relative));
  CHECK(fingerprint(head.K.grad()) == Approx(-0.177619431789).epsilon(kPrinted.relative));
  CHECK(fingerprint(E.grad) == Approx(0.738498243479).epsilon(kPrinted.relative));
  CHECK(fingerprint(F.grad) == Approx(-1.3320143802).epsilon(kPrinted.relative));
  for (const char* line : {"E", "F"}) CHECK(gradient_gap(head.tape, head.Y, head.dY, head.tape.find(line)).ok());
}

TEST_CASE("linformer: E = F = I is softmax attention") {
  Given given(6, 6, Sharing::key_value);
  given.variant.E[0]->set(identity(6));
  OneHead head(given.variant, nullptr, 6, 6), dense(plain_attention, nullptr, 6, 6);
  CHECK(difference(head.Y.value(), dense.Y.value(), kRounding) == "");
  CHECK(difference(head.Q.grad(), dense.Q.grad(), kRounding) == "");
  CHECK(difference(head.K.grad(), dense.K.grad(), kRounding) == "");
  CHECK(difference(head.V.grad(), dense.V.grad(), kRounding) == "");
}

TEST_CASE("linformer: over padding, batches and heads, for one number of keys") {
  check_variant(Given(3, 7).variant, {.lengths = {7}});
  check_variant(Given(3, 7, Sharing::none, 4).variant, {.lengths = {7}});
  check_variant(Given(3, 7, Sharing::key_value).variant, {.lengths = {7}});
}

TEST_CASE("linformer: what is shared") {
  Given own(2, 6, Sharing::none, 4), heads(2, 6, Sharing::heads, 4), one(2, 6, Sharing::key_value, 4);
  CHECK(own.store.all.size() == 8);
  CHECK(own.store.find("E_3") != nullptr);
  CHECK(heads.store.all.size() == 2);
  CHECK(one.store.all.size() == 1);
  CHECK(one.variant.E[0] == one.variant.F[0]);
  OneHead head(one.variant, nullptr, 6, 6);  // used for keys and for values: both send a gradient back
  CHECK(gradient_gap(head.tape, head.Y, head.dY, head.tape.find("E")).ok());
}

TEST_CASE("linformer: another number of keys, or a head without projections, is an error") {
  Given given(2, 6), own(2, 6, Sharing::none, 2);
  CHECK_THROWS_AS(OneHead(given.variant), ShapeError);
  Tape tape;
  const Var X = tape.input(sines({6, 4}, 1, 3, 1), "X");
  CHECK_THROWS_AS(own.variant(X, X, X, {.head = 2, .heads = 4}), ShapeError);
  ParamStore store;
  Rng rng(1);
  CHECK_THROWS_AS(Linformer(store, "", 0, 6, rng), InputError);
}
