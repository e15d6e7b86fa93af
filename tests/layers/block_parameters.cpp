#include "tests/layers/block_parameters.h"

#include "tests/compare.h"

namespace glass {
inline namespace GLASS_PRECISION {

static void set(ParamStore& store, const std::string& name, const Matrix& values) {
  if (Param* p = store.find(name)) p->set(values);  // no bias: nothing to set
}

void set_attention(ParamStore& store, const std::string& suffix, double shift) {
  const int C = store.find("W_q" + suffix)->value.rows();
  set(store, "W_q" + suffix, cosines({C, C}, 0.5, 1, 2, shift));
  set(store, "W_k" + suffix, sines({C, C}, 0.5, 2, 1, 1 + shift));
  set(store, "W_v" + suffix, cosines({C, C}, 0.5, 3, -1, 0.5 + shift));
  set(store, "W_o" + suffix, sines({C, C}, 0.5, 1, -1, 0.25 + shift));
  set(store, "b_q" + suffix, cosines({1, C}, 0.25, 0, 1, 0.2 + shift));
  set(store, "b_k" + suffix, sines({1, C}, 0.25, 0, 2, 0.7 + shift));
  set(store, "b_v" + suffix, cosines({1, C}, 0.25, 0, 3, 0.1 + shift));
  set(store, "b_o" + suffix, cosines({1, C}, 0.25, 0, 1.5, 0.4 + shift));
}

void set_rest(ParamStore& store, int norms) {
  const int C = store.find("W_1")->value.rows(), hidden = store.find("W_1")->value.cols();
  set(store, "W_1", cosines({C, hidden}, 0.5, 1, 3, 0.2));
  set(store, "b_1", cosines({1, hidden}, 0.1, 0, 1, 0.9));
  set(store, "W_2", sines({hidden, C}, 0.5, 2, 1, 0.4));
  set(store, "b_2", sines({1, C}, 0.1, 0, 2, 0.6));
  for (int k = 1; k <= norms; ++k) {
    Matrix gain = cosines({1, C}, 0.2, 0, 1, k);
    for (int c = 0; c < C; ++c) gain(0, c) += 1;
    set(store, "gain_" + std::to_string(k), gain);
    set(store, "bias_" + std::to_string(k), sines({1, C}, 0.1, 0, 2, k));
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
