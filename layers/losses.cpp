#include "layers/losses.h"

namespace glass {
inline namespace GLASS_PRECISION {

Matrix onehot(const std::vector<int>& ids, int classes) {
  Matrix T(Shape{int(ids.size()), classes});
  for (int i = 0; i < T.rows(); ++i) {
    const int id = ids[std::size_t(i)];
    if (id < 0 || id >= classes) {
      throw ShapeError("onehot: " + std::to_string(id) + ", number " + std::to_string(i) + " of " +
                       std::to_string(T.rows()) + ", is not one of " + std::to_string(classes) + " classes");
    }
    T(i, id) = 1;
  }
  return T;
}

Var cross_entropy_steps(Var logits, const std::vector<int>& targets) {
  const Var T = logits.tape->constant(onehot(targets, logits.shape().cols), "T");
  const Var L = log_softmax(logits).named("L");
  const Var t = row_sum(mul(L, T)).named("t");
  return neg(mean(t)).named("loss");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
