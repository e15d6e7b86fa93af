// The convolution layer: PyTorch (tests/reference/integration.py), differences, reach.
#include "layers/conv.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;

TEST_CASE("convolution: centred and causal give PyTorch's values and gradients") {
  const ReferenceFile torch("integration.txt");
  for (const int left : {1, 2}) {
    const std::string prefix = left == 1 ? "centred." : "causal.";
    Tape tape;
    ParamStore store;
    Rng rng(1);
    Conv conv(store, "", 3, 4, 3, left, rng);
    conv.W->set(cosines({9, 4}, 0.5, 1, 2, 0));
    conv.b->set(cosines({1, 4}, 0.25, 0, 1, 0.2));
    const Matrix dY = cosines({5, 4}, 1, 2, 3, 1);
    const Var X = tape.input(sines({5, 3}, 1, 3, 1), "X"), Y = conv(X);
    tape.backward(Y, dY);
    CHECK(difference(Y.value(), torch[prefix + "Y"], kRounding) == "");
    CHECK(difference(X.grad(), torch[prefix + "dX"], kRounding) == "");
    CHECK(difference(conv.W->grad, torch[prefix + "dW"], kRounding) == "");
    CHECK(difference(conv.b->grad, torch[prefix + "db"], kRounding) == "");
    CHECK(gradient_gap(tape, Y, dY, X).ok());
    CHECK(gradient_gap(tape, Y, dY, tape.find("W")).ok());
  }
}

TEST_CASE("convolution: it reaches its taps and no further") {
  Rng rng(1);
  ParamStore store;
  Conv conv(store, "", 3, 4, 3, 2, rng, Bias::no);
  CHECK(store.all.size() == 1);
  Tape tape;
  const Var X = tape.input(sines({5, 3}, 1, 3, 1), "X"), Y = conv(X);
  Matrix dY(Shape{5, 4});
  dY(3, 1) = 1;
  tape.backward(Y, dY);
  CHECK(all_zero(X.grad().block(0, 0, 1, 3)));
  for (int t = 1; t <= 3; ++t) CHECK(!all_zero(X.grad().block(t, 0, 1, 3)));
  CHECK(all_zero(X.grad().block(4, 0, 1, 3)));
}

TEST_CASE("convolution: taps that do not fit are errors") {
  Rng rng(1);
  ParamStore store;
  CHECK_THROWS_AS(Conv(store, "", 3, 4, 0, 0, rng), InputError);
  CHECK_THROWS_AS(Conv(store, "", 3, 4, 3, 3, rng), InputError);
  CHECK_THROWS_AS(Conv(store, "", 3, 4, 3, -1, rng), InputError);
  CHECK(store.all.empty());
}
