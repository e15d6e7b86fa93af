// Attention built into a network: shapes, gradients, and who can reach whom.
#include "layers/integration.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static const Integration kForms[] = {Integration::standalone, Integration::conv, Integration::recurrent, Integration::augmented};

TEST_CASE("integration: every form keeps the shape, and its gradients agree with differences") {
  for (const Integration form : kForms) {
    CAPTURE(int(form));
    Tape tape;
    ParamStore store;
    Rng rng(3);
    Integrated model(store, form, 4, 2, rng);
    for (Param& p : store.all) p.set(random_matrix(p.value.shape(), rng));  // biases too
    const Matrix dY = cosines({5, 4}, 1, 2, 3, 1);
    const Var X = tape.input(sines({5, 4}, 1, 3, 1), "X"), Y = model(X);
    CHECK(Y.shape() == Shape{5, 4});
    tape.backward(Y, dY);
    CHECK(gradient_gap(tape, Y, dY, X).ok());
    for (const Param& p : store.all) {
      CAPTURE(p.name);
      CHECK(gradient_gap(tape, Y, dY, tape.find(p.name.c_str())).ok());
    }
  }
}

TEST_CASE("integration: the parts are where they should be") {
  Rng rng(4);
  ParamStore store;
  Integrated model(store, Integration::augmented, 4, 2, rng);
  Tape tape;
  const Matrix x = sines({5, 4}, 1, 3, 1);
  const Var X = tape.input(x, "X"), Y = model(X);
  CHECK(difference(Y.value().block(0, 0, 5, 2), model.conv[0](X).value(), kRounding) == "");
  CHECK(difference(Y.value().block(0, 2, 5, 2), model.attention[0](model.narrow[0](X)).value(), kRounding) == "");
  ParamStore other;
  Integrated hybrid(other, Integration::conv, 4, 2, rng);
  CHECK(difference(hybrid(X).value(), hybrid.attention[0](tanh(hybrid.conv[0](X))).value(), kRounding) == "");
  ParamStore third;
  Integrated after(third, Integration::recurrent, 4, 2, rng);
  CHECK(difference(after(X).value(), after.attention[0](after.recurrent[0](X)).value(), kRounding) == "");
}

TEST_CASE("integration: in the local half of the augmented form a word reaches its neighbours only, in the other all") {
  Rng rng(5);
  ParamStore store;
  Integrated model(store, Integration::augmented, 4, 1, rng);
  for (const int column : {0, 2}) {
    Tape tape;
    const Var X = tape.input(sines({5, 4}, 1, 3, 1), "X"), Y = model(X);
    Matrix dY(Shape{5, 4});
    dY(0, column) = 1;
    tape.backward(Y, dY);
    CHECK(all_zero(X.grad().block(2, 0, 3, 4)) == (column == 0));
  }
}

TEST_CASE("integration: widths that cannot be cut are errors") {
  Rng rng(6);
  ParamStore store;
  CHECK_THROWS_AS(Integrated(store, Integration::standalone, 5, 2, rng), ShapeError);
  CHECK_THROWS_AS(Integrated(store, Integration::augmented, 5, 1, rng), ShapeError);
  CHECK_THROWS_AS(Integrated(store, Integration::augmented, 6, 2, rng), ShapeError);
}
