// The recurrent layer: PyTorch (tests/reference/integration.py), differences, what comes from later.
#include "layers/recurrent.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;

TEST_CASE("recurrent: PyTorch's values and gradients") {
  const ReferenceFile torch("integration.txt");
  Tape tape;
  ParamStore store;
  Rng rng(1);
  Recurrent layer(store, "", 3, 4, rng);
  layer.x.W->set(cosines({3, 4}, 0.5, 1, 2, 0));
  layer.x.b->set(cosines({1, 4}, 0.25, 0, 1, 0.2));
  layer.W_h->set(sines({4, 4}, 0.5, 2, 1, 1));
  const Matrix dY = cosines({5, 4}, 1, 2, 3, 1);
  const Var X = tape.input(sines({5, 3}, 1, 3, 1), "X"), H = layer(X);
  tape.backward(H, dY);
  CHECK(difference(H.value(), torch["rnn.H"], kRounding) == "");
  CHECK(difference(X.grad(), torch["rnn.dX"], kRounding) == "");
  CHECK(difference(layer.x.W->grad, torch["rnn.dW_x"], kRounding) == "");
  CHECK(difference(layer.W_h->grad, torch["rnn.dW_h"], kRounding) == "");
  CHECK(difference(layer.x.b->grad, torch["rnn.db_x"], kRounding) == "");
  CHECK(gradient_gap(tape, H, dY, X).ok());
  CHECK(gradient_gap(tape, H, dY, tape.find("W_h")).ok());
}

TEST_CASE("recurrent: nothing comes from later words; no words are an error") {
  Rng rng(2);
  ParamStore store;
  Recurrent layer(store, "", 3, 4, rng);
  Tape tape;
  Matrix x = sines({4, 3}, 1, 3, 1);
  const Matrix before(layer(tape.input(x, "X")).value());
  x(3, 0) += 1;
  const Matrix after(layer(tape.input(x, "X")).value());
  CHECK(bit_difference(before.view().block(0, 0, 3, 4), after.view().block(0, 0, 3, 4)) == "");
  CHECK(bit_difference(before, after) != "");
  CHECK_THROWS_AS(layer(tape.input(Matrix(Shape{0, 3}), "none")), ShapeError);
}
