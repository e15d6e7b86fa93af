#include "layers/positional/sinusoidal.h"

#include <cmath>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

Matrix sinusoidal_table(int n, int C, int first) {
  Matrix P(Shape{n, C});
  for (int r = 0; r < n; ++r) {
    for (int c = 0; c < C; ++c) {
      const int i = c / 2;  // the pair, not the column
      const double angle = (double(first) + r) * std::pow(10000.0, -2.0 * i / C);
      P(r, c) = Real(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return P;
}

Var SinusoidalPositions::operator()(Var X, int batch, int first) const {
  const Shape x = X.shape();
  if (batch < 1 || x.rows % batch != 0) {
    throw ShapeError("sinusoidal positions: " + std::to_string(x.rows) + " rows cannot be cut into " +
                     std::to_string(batch) + " sequences");
  }
  const int n = x.rows / batch;
  const Matrix one = sinusoidal_table(n, x.cols, first);
  Matrix P(x);
  for (int r = 0; r < x.rows; ++r)
    for (int c = 0; c < x.cols; ++c) P(r, c) = one(r % n, c);
  const Var waves = X.tape->constant(P, "waves");
  return add(scale(X, std::sqrt(double(x.cols))).named("√C X"), waves).named("Z");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
