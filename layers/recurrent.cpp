#include "layers/recurrent.h"

#include <vector>

namespace glass {
inline namespace GLASS_PRECISION {

Recurrent::Recurrent(ParamStore& store, const std::string& suffix, int in, int width, Rng& rng)
    : x(store, "_x" + suffix, in, width, rng), W_h(&store.make("W_h" + suffix, {width, width}, Init::xavier, rng)) {}

Var Recurrent::operator()(Var X) const {
  Tape& tape = *X.tape;
  const int n = X.shape().rows;
  if (n == 0) throw ShapeError("recurrent: there is no word in " + to_text(n, X.shape().cols));
  const Var U = x(X), W = tape.use(*W_h);
  std::vector<Var> H;
  for (int t = 0; t < n; ++t) {
    const Var now = tape.rows(U, t, 1);
    H.push_back(tanh(t == 0 ? now : add(now, matmul(H.back(), W))));
  }
  return concat_rows(H.data(), n).named("H");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
