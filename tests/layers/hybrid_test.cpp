// The hybrid: its two limits, its definition in plain loops, and the form without a matrix of pairs.
#include "layers/attention/hybrid.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/efficient_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

TEST_CASE("hybrid: over masks, batches, heads and lengths, for every window") {
  check_variant(HybridAttention(2));
  check_variant(HybridAttention(1), {.lengths = {1, 4}});
  check_variant(HybridAttention(0), {.lengths = {1, 4}});
  check_variant(HybridAttention(9), {.same_as_plain = true});  // wider than everything: softmax attention
}

TEST_CASE("hybrid: a window of 0 is linear attention") {
  const Mask causal = Mask::causal(5, 5);
  for (const Mask* allowed : {static_cast<const Mask*>(nullptr), &causal}) {
    OneHead hybrid(HybridAttention(0), allowed), linear(LinearAttention(LinearForm::quadratic, 0), allowed);
    CHECK(difference(hybrid.Y.value(), linear.Y.value(), kRounding) == "");
    CHECK(difference(hybrid.Q.grad(), linear.Q.grad(), kRounding) == "");
    CHECK(difference(hybrid.K.grad(), linear.K.grad(), kRounding) == "");
    CHECK(difference(hybrid.V.grad(), linear.V.grad(), kRounding) == "");
  }
}

static double phi(double x) { return x > 0 ? x + 1 : std::exp(x); }

TEST_CASE("hybrid: its definition, pair by pair") {
  const Mask causal = Mask::causal(3, 5);
  OneHead hybrid(HybridAttention(2), &causal, 3, 5);
  const Mat Q = hybrid.Q.value(), K = hybrid.K.value(), V = hybrid.V.value();
  Matrix want(Shape{3, 3});
  for (int i = 0; i < 3; ++i) {
    double total = 0;
    for (const bool again : {false, true}) {
      for (int j = 0; j <= i + 2; ++j) {
        double dot = 0, features = 0;
        for (int c = 0; c < 4; ++c) dot += double(Q(i, c)) * double(K(j, c)), features += phi(double(Q(i, c))) * phi(double(K(j, c)));
        const double W = j > i ? std::exp(dot / 2) : features;  // near: keys i + 2 and i + 1
        if (!again) total += W;
        for (int c = 0; c < 3 && again; ++c) want(i, c) += Real(W / total * double(V(j, c)));
      }
    }
  }
  CHECK(difference(hybrid.Y.value(), want, kRounding) == "");
}

TEST_CASE("hybrid: without a matrix of pairs it gives the same, value and gradients") {
  for (const int window : {0, 1, 2, 9}) {
    for (const int n : {2, 5, 7}) {  // fewer queries than keys, as many, more
      CAPTURE(window, n);
      const Mask causal = Mask::causal(n, 5);
      OneHead pairs(HybridAttention(window), &causal, n);
      Tape tape;
      const Var Q = tape.input(pairs.Q.value(), "Q"), K = tape.input(pairs.K.value(), "K"), V = tape.input(pairs.V.value(), "V");
      const Var Y = hybrid_recurrent(Q, K, V, window);
      tape.backward(Y, pairs.dY);
      CHECK(difference(Y.value(), pairs.Y.value(), kRounding) == "");
      CHECK(difference(Q.grad(), pairs.Q.grad(), kRounding) == "");
      CHECK(difference(K.grad(), pairs.K.grad(), kRounding) == "");
      CHECK(difference(V.grad(), pairs.V.grad(), kRounding) == "");
      CHECK(gradient_gap(tape, Y, pairs.dY, K).ok());
    }
  }
}

TEST_CASE("hybrid: large scores of both signs stay finite, and what is subtracted cancels") {
  const Mask causal = Mask::causal(5, 5);
  for (const double size : {30.0, -30.0}) {
    OneHead hybrid(sines({5, 4}, size, 3, 1), cosines({5, 4}, 30, 2, -1), HybridAttention(2), &causal);
    for (int i = 0; i < 5; ++i)
      for (int c = 0; c < 3; ++c) CHECK(std::isfinite(hybrid.Y.value()(i, c)));
  }
}
