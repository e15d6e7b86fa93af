// Theme F: attention. Each test is named after its case. (F01 and F05 stand in layers/mask_test.cpp.)
#include <cmath>

#include "engine/gradcheck.h"
#include "layers/attention/multi_head.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

static const Variant* const kForms[] = {&plain_attention, &fused_attention};

TEST_CASE("F07 a width that the heads do not divide is an error that names both, before any parameter is made") {
  for (const int heads : {3, 0, -1, 11}) {
    ParamStore store;
    Rng rng(1);
    CAPTURE(heads);
    try {
      MultiHeadAttention(store, "", 10, heads, rng);
      FAIL("nothing was thrown");
    } catch (const ShapeError& e) {
      const std::string message = e.what();
      CHECK(message.find("10") != std::string::npos);
      CHECK(message.find(std::to_string(heads) + " heads") != std::string::npos);
    }
    CHECK(store.all.empty());
  }
}

// What each query head reads when the values of key head g are `values[g]`, one token.
static Matrix heads_read(int heads, const Matrix& values, const Variant& variant) {
  Tape tape;
  const int kv_heads = values.cols();
  const Var Q = tape.constant(Matrix(Shape{1, heads}), "Q"), K = tape.constant(Matrix(Shape{1, kv_heads}), "K");
  return Matrix(multi_head(Q, K, tape.constant(values, "V"), {.heads = heads, .kv_heads = kv_heads}, variant).value());
}

TEST_CASE("F09 grouped heads: neighbours share a key head") {
  for (const Variant* form : kForms)
    CHECK(difference(heads_read(4, {{10, 20}}, *form), Matrix{{10, 10, 20, 20}}) == "");
}

TEST_CASE("F10 the head mapping, also where the group size is not the number of groups") {
  for (const Variant* form : kForms) {
    CHECK(difference(heads_read(6, {{0, 1}}, *form), Matrix{{0, 0, 0, 1, 1, 1}}) == "");
    CHECK(difference(heads_read(6, {{0, 1, 2}}, *form), Matrix{{0, 0, 1, 1, 2, 2}}) == "");
    CHECK_THROWS_AS(heads_read(5, {{0, 1}}, *form), ShapeError);
  }
}

TEST_CASE("F11 cross-attention with other lengths and another value width") {
  const Matrix q{{1, 0}, {0, 2}}, k{{1, 1}, {0, 1}, {2, 0}}, v{{1}, {2}, {4}};
  Mask seen(2, 3), turned(3, 2);
  seen.set(0, 2, false), seen.set(1, 0, false);
  for (const Variant* form : kForms) {
    HeadsRun run(*form, q, k, v, {.mask = &seen}, {{1}, {-1}});
    CHECK(difference(run.Y.value(), Matrix{{1.330238451}, {2.391140635}}) == "");
    CHECK(difference(run.Q.grad(), Matrix{{-0.1563985965, 0}, {-0.4449754198, 0.2224877099}}) == "");
    CHECK(difference(run.K.grad(), Matrix{{-0.1563985965, 0}, {0.1563985965, 0.4449754198}, {0, -0.4449754198}}) == "");
    CHECK(difference(run.V.grad(), Matrix{{0.6697615493}, {-0.4741912318}, {-0.1955703175}}) == "");
    CHECK_THROWS_AS(HeadsRun(*form, q, k, v, {.mask = &turned}, {{1}, {-1}}), ShapeError);
  }
}

TEST_CASE("F12 scores are divided by the root of the head's width, not of the model's") {
  ParamStore store;
  Rng rng(1);
  MultiHeadAttention layer(store, "", 4, 2, rng);
  for (Param& p : store.all) p.set(identity(4));
  for (const Variant* form : kForms) {
    layer.variant = form;
    Tape tape;
    const Var Y = layer(tape.constant(Matrix{{1, 2, 0, -1}, {0, 1, 1, 2}}, "X"));
    CHECK(difference(Y.value(), Matrix{{0.8929581985, 1.892958199, 0.1070418015, -0.6788745956},
                                       {0.6697615493, 1.669761549, 0.9929646489, 1.978893947}}) == "");
  }
}

TEST_CASE("F13 a window of 2 holds the query's own key and the one before") {
  const Mask seen = Mask::window(4, 4, 2);
  const Matrix want{{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 1}};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) CHECK(seen(i, j) == (want(i, j) == 1));
  for (const Variant* form : kForms) {
    HeadsRun run(*form, Matrix(Shape{4, 1}), Matrix(Shape{4, 1}), {{1}, {2}, {4}, {8}}, {.mask = &seen},
                 Matrix(Shape{4, 1}));
    CHECK(difference(run.Y.value(), Matrix{{1}, {1.5}, {3}, {6}}) == "");
  }
  CHECK_THROWS_AS(Mask::window(4, 4, 0), InputError);
  CHECK_THROWS_AS(Mask::window(4, 4, -1), InputError);
}

TEST_CASE("F15 dropout on the weights is off in evaluation") {
  Rng rng(15);
  const Matrix q = random_matrix({4, 6}, rng), k = random_matrix({4, 6}, rng), v = random_matrix({4, 6}, rng),
               dY = random_matrix({4, 6}, rng);
  Dropout dropout(0.9, rng);
  const Dropped dropped(dropout);
  const Heads cut{.heads = 2};
  HeadsRun plain(plain_attention, q, k, v, cut, dY), training(dropped, q, k, v, cut, dY),
      again(dropped, q, k, v, cut, dY);
  CHECK(bit_difference(training.Y.value(), plain.Y.value()) != "");
  CHECK(bit_difference(training.Y.value(), again.Y.value()) != "");
  dropout.training = false;
  HeadsRun once(dropped, q, k, v, cut, dY), twice(dropped, q, k, v, cut, dY);
  for (const HeadsRun* run : {&once, &twice}) {
    CHECK(bit_difference(run->Y.value(), plain.Y.value()) == "");
    CHECK(bit_difference(run->Q.grad(), plain.Q.grad()) == "");
    CHECK(bit_difference(run->K.grad(), plain.K.grad()) == "");
    CHECK(bit_difference(run->V.grad(), plain.V.grad()) == "");
  }
}

TEST_CASE("F17 causal attention: values and gradients to ten digits, and by differences") {
  const Matrix q{{-0.84375, -0.5}, {0.3125, 0.65625}, {-0.53125, -0.1875}},
      k{{-0.90625, -0.375}, {0, 0.53125}, {0.90625, -0.5625}};
  const Matrix v{{-0.96875, -0.75}, {-0.5625, -0.34375}, {-0.15625, 0.0625}},
      g{{-0.75, -0.375}, {-0.125, 0.25}, {0.5, 0.875}};
  const Mask causal = Mask::causal(3, 3);
  for (const Variant* form : kForms) {
    CAPTURE(form->name());
    HeadsRun run(*form, q, k, v, {.mask = &causal}, g);
    CHECK(difference(run.Y.value(),
                     Matrix{{-0.96875, -0.75}, {-0.7045257278, -0.4857757278}, {-0.653408981, -0.434658981}}) == "");
    CHECK(difference(run.Q.grad(), Matrix{{0, 0}, {0.007399278851, 0.007399278851}, {0.2349810846, 0.001631002786}}) ==
          "");
    CHECK(difference(run.K.grad(), Matrix{{0.07321244141, 0.02138210748},
                                          {-0.01122882592, 0.000494462694},
                                          {-0.06198361549, -0.02187657017}}) == "");
    CHECK(difference(
              run.V.grad(),
              Matrix{{-0.5611240011, 0.1194088379}, {0.06543575476, 0.419386731}, {0.1206882463, 0.211204431}}) == "");
    for (const Var x : {run.Q, run.K, run.V}) CHECK(gradient_gap(run.tape, run.Y, g, x).ok());
  }
}
