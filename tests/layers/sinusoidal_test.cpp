// Sinusoidal positions: by ten digits, and by what the waves must do.
#include "layers/positional/sinusoidal.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

static double dot(Mat a, int i, int j) {
  double sum = 0;
  for (int c = 0; c < a.cols; ++c) sum += double(a(i, c)) * double(a(j, c));
  return sum;
}

TEST_CASE("sinusoidal: four positions of width 6 to ten digits") {
  CHECK(difference(sinusoidal_table(4, 6),
                   Matrix{{0, 1, 0, 1, 0, 1},
                          {0.8414709848, 0.5403023059, 0.0463992235, 0.9989229760, 0.0021544330, 0.9999976792},
                          {0.9092974268, -0.4161468365, 0.0926985008, 0.9956942241, 0.0043088560, 0.9999907168},
                          {0.1411200081, -0.9899924966, 0.1387981011, 0.9903206991, 0.0064632591, 0.9999791129}}) ==
        "");
}

TEST_CASE("sinusoidal: dot products depend on the distance only, and every row has the same length") {
  const Matrix P = sinusoidal_table(64, 6);
  for (int p = 0; p + 7 < 64; ++p) CHECK(dot(P, p, p + 7) == Approx(2.70146760901).epsilon(kPrinted.relative));
  for (int p = 0; p < 64; ++p) CHECK(dot(P, p, p) == Approx(3).epsilon(kPrinted.relative));
}

TEST_CASE("sinusoidal: a shift by k turns pair i by k w_i, whatever the position") {
  const int C = 7, k = 3;
  const Matrix P = sinusoidal_table(20, C);
  for (int p = 0; p + k < 20; ++p) {
    for (int i = 0; 2 * i + 1 < C; ++i) {
      const double angle = k * std::pow(10000.0, -2.0 * i / C), s = double(P(p, 2 * i)), c = double(P(p, 2 * i + 1));
      CHECK(double(P(p + k, 2 * i)) == Approx(s * std::cos(angle) + c * std::sin(angle)).margin(1e-6));
      CHECK(double(P(p + k, 2 * i + 1)) == Approx(c * std::cos(angle) - s * std::sin(angle)).margin(1e-6));
    }
  }
}

TEST_CASE("sinusoidal: a later first row is a later row, bit for bit") {
  const Matrix P = sinusoidal_table(9, 5);
  CHECK(bit_difference(sinusoidal_table(4, 5, 5), P.view().block(5, 0, 4, 5)) == "");
}

TEST_CASE("sinusoidal: Z = √C X + P for every sequence of a batch, and the gradient is √C dZ") {
  Rng rng(1);
  const Matrix x = random_matrix({6, 4}, rng), dZ = random_matrix({6, 4}, rng);
  Tape tape;
  const Var X = tape.input(x, "X"), Z = SinusoidalPositions()(X, 2, 10);
  tape.backward(Z, dZ);
  const Matrix P = sinusoidal_table(3, 4, 10);
  Matrix want_Z(Shape{6, 4}), want_dX(Shape{6, 4});
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 4; ++c) want_Z(r, c) = 2 * x(r, c) + P(r % 3, c), want_dX(r, c) = 2 * dZ(r, c);
  CHECK(difference(Z.value(), want_Z, kRounding) == "");
  CHECK(difference(X.grad(), want_dX, kRounding) == "");
  CHECK(gradient_gap(tape, Z, dZ, X).ok());
}

TEST_CASE("sinusoidal: rows that cannot be cut into sequences are an error") {
  Tape tape;
  const Var X = tape.input(Matrix(Shape{5, 4}), "X");
  CHECK_THROWS_AS(SinusoidalPositions()(X, 2), ShapeError);
  CHECK_THROWS_AS(SinusoidalPositions()(X, 0), ShapeError);
  CHECK(tape.nodes.size() == 1);
}
