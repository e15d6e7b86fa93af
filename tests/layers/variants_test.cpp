// Every way of attending, by name: what holds for all of them.
#include "layers/attention/variants.h"

#include "engine/gradcheck.h"
#include "layers/attention/multi_head.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static const int n = 6, d = 4, H = 2;

TEST_CASE("variants: each name makes one, two heads of it run, and its gradients agree with differences") {
  Rng rng(3);
  const Matrix q = random_matrix({n, H * d}, rng), k = random_matrix({n, H * d}, rng), v = random_matrix({n, H * d}, rng), dY = random_matrix({n, H * d}, rng);
  Matrix plain;
  for (const VariantInfo& info : all_variants()) {
    CAPTURE(info.name);
    ParamStore store;
    Rng start(5);
    const std::unique_ptr<Variant> variant = make_variant(info.name, store, n, d, H, start);
    REQUIRE(variant);
    Tape tape;
    const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    const Var Y = multi_head(Q, K, V, {.heads = H}, *variant);
    tape.backward(Y, dY);
    for (const Var x : {Q, K, V}) CHECK(gradient_gap(tape, Y, dY, x).ok());
    for (const Param& p : store.all) {
      CAPTURE(p.name);
      CHECK(gradient_gap(tape, Y, dY, tape.find(p.name.c_str())).ok());
    }
    if (std::string(info.name) == "plain") plain = Matrix(Y.value());
    const bool same = difference(Y.value(), plain, kRounding).empty();
    // with learned scales that start at 1/√d, and scores below the cap, some others begin as plain attention
    if (info.exact) CHECK(same);
    if (std::string(info.name) == "window") CHECK(!same);
  }
}

TEST_CASE("variants: what a mask hides stays hidden in all that support it, and the others refuse") {
  Rng rng(4);
  const Matrix q = random_matrix({n, d}, rng), k = random_matrix({n, d}, rng), v = random_matrix({n, d}, rng), dY = random_matrix({n, d}, rng);
  const Mask padding = Mask::visible({true, true, true, true, true, false}, n), causal = Mask::causal(n, n);
  Mask nothing = padding;
  for (int j = 0; j < n; ++j) nothing.set(2, j, false);
  for (const VariantInfo& info : all_variants()) {
    CAPTURE(info.name);
    ParamStore store;
    Rng start(5);
    const std::unique_ptr<Variant> variant = make_variant(info.name, store, n, d, 1, start);
    const Supports can = variant->supports();
    for (const Mask* mask : {&padding, &causal, static_cast<const Mask*>(&nothing)}) {
      const bool fits = mask == &padding ? can.padding : mask == &causal ? can.causal : can.any_mask;
      CAPTURE(mask == &padding, mask == &causal);
      Tape tape;
      const Var Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
      if (!fits) {
        CHECK_THROWS_AS((*variant)(Q, K, V, {.allowed = mask}), ShapeError);
        continue;
      }
      const Var Y = (*variant)(Q, K, V, {.allowed = mask});
      tape.backward(Y, dY);
      CHECK(gradient_gap(tape, Y, dY, K).ok());
      if (mask != &causal) {
        CHECK(all_zero(K.grad().block(n - 1, 0, 1, d)));
        CHECK(all_zero(V.grad().block(n - 1, 0, 1, d)));
      }
      if (mask == &nothing) {
        CHECK(all_zero(Y.value().block(2, 0, 1, d)));
        CHECK(all_zero(Q.grad().block(2, 0, 1, d)));
      }
    }
  }
}

TEST_CASE("variants: a name that is not there is an error that lists those that are") {
  ParamStore store;
  Rng rng(1);
  CHECK_THROWS_WITH(make_variant("flesh", store, 4, 4, 1, rng), Catch::Matchers::ContainsSubstring("\"flesh\"") && Catch::Matchers::ContainsSubstring("flash"));
}
