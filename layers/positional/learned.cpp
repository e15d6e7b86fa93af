#include "layers/positional/learned.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

LearnedPositions::LearnedPositions(ParamStore& store, const std::string& name, int longest, int C, Rng& rng)
    : table(&store.make(name, {longest, C}, Start(Init::normal, 0.02), rng)) {}

Var LearnedPositions::operator()(Var X, int batch, int first) const {
  const int rows = X.shape().rows, longest = table->value.rows();
  if (batch < 1 || rows % batch != 0) {
    throw ShapeError("learned positions: " + std::to_string(rows) + " rows cannot be cut into " +
                     std::to_string(batch) + " sequences");
  }
  const int n = rows / batch;
  if (first < 0 || n > longest - first) {
    throw ShapeError("learned positions: " + std::to_string(n) + " tokens from position " + std::to_string(first) +
                     " on, but the table \"" + table->name + "\" ends at " + std::to_string(longest - 1) +
                     "\n  Cut the text, or stretch the table.");
  }
  std::vector<int> position;
  for (int r = 0; r < rows; ++r) position.push_back(first + r % n);
  return add(X, gather_rows(X.tape->use(*table), position.data(), rows)).named("Z");
}

double source_row(Stretch how, int r, int L, int n) {
  if (how == Stretch::align_corners) return n == 1 ? 0 : double(r) * (L - 1) / (n - 1);
  return std::clamp((r + 0.5) * L / n - 0.5, 0.0, double(L - 1));
}

Var stretched(Var P, int n, Stretch how) {
  const int L = P.shape().rows;
  if (L == 0) throw ShapeError("stretched: a table without rows cannot be stretched to " + std::to_string(n));
  std::vector<int> below, above;
  Matrix f(Shape{n, 1}), rest(Shape{n, 1});
  for (int r = 0; r < n; ++r) {
    const double s = source_row(how, r, L, n);
    below.push_back(int(s));
    above.push_back(std::min(int(s) + 1, L - 1));
    f(r, 0) = Real(s - std::floor(s));
    rest(r, 0) = 1 - f(r, 0);
  }
  Tape& tape = *P.tape;
  const Var low = mul_col(gather_rows(P, below.data(), n), tape.constant(rest, "1 - f"));
  const Var high = mul_col(gather_rows(P, above.data(), n), tape.constant(f, "f"));
  return add(low, high).named("P'");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
