#include "layers/softmax.h"

#include <cmath>

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

Var Softmax::operator()(Var E) const {
  if (!(temperature > 0) || !std::isfinite(temperature)) {
    throw InputError("softmax: the temperature must be a positive number, not " + to_text(temperature));
  }
  return softmax(temperature == 1 ? E : scale(E, 1 / temperature));
}

Var softmax_steps(Var E) {
  const Var m = row_max(E).named("m");
  const HostView largest(E.tape->be, m.value());
  for (int i = 0; i < m.shape().rows; ++i) {
    if (std::isinf(largest(i, 0))) {
      throw InputError("softmax_steps: the largest score of row " + std::to_string(i) + " is " + to_text(double(largest(i, 0))) +
                       ", and inf - inf is not a number; the op softmax() handles a row that is all -inf");
    }
  }
  const Var Z = sub_col(E, m).named("Z");
  const Var P = exp(Z).named("P");
  const Var s = row_sum(P).named("s");
  return div_col(P, s).named("A");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
