#include "layers/attention/linformer.h"

#include <cmath>

#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Param* projection(ParamStore& store, const std::string& name, int slots, int positions, Rng& rng) {
  Param& p = store.make(name, {slots, positions}, Init::normal, rng);
  Matrix values(p.value);
  for (int i = 0; i < slots; ++i)
    for (int j = 0; j < positions; ++j) values(i, j) = Real(double(values(i, j)) / std::sqrt(double(slots)));
  p.set(values);
  return &p;
}

Linformer::Linformer(ParamStore& store, const std::string& suffix, int k, int m, Rng& rng, Sharing sharing, int heads) : slots(k), positions(m) {
  if (k < 1 || m < 1 || heads < 1) throw InputError("Linformer: slots, positions and heads must be positive, not " + to_text(k, m) + " and " + std::to_string(heads));
  const int each = sharing == Sharing::none ? heads : 1;
  for (int h = 0; h < each; ++h) {
    const std::string end = (sharing == Sharing::none ? "_" + std::to_string(h) : "") + suffix;
    E.push_back(projection(store, "E" + end, k, m, rng));
    F.push_back(sharing == Sharing::key_value ? E.back() : projection(store, "F" + end, k, m, rng));
  }
}

Var Linformer::attend(Var Q, Var K, Var V, const Call& call) const {
  if (K.shape().rows != positions) {
    throw ShapeError("linformer attention: E and F are for " + std::to_string(positions) + " keys, but there are " + std::to_string(K.shape().rows));
  }
  const std::size_t h = E.size() == 1 ? 0 : std::size_t(call.head);
  if (h >= E.size()) {
    throw ShapeError("linformer attention: there are projections for " + std::to_string(E.size()) + " heads, but this is head " + std::to_string(h));
  }
  Tape& tape = *Q.tape;
  const Var e = tape.use(*E[h]).named("E"), f = E[h] == F[h] ? e : tape.use(*F[h]).named("F");
  const Var K_bar = matmul(e, hide_keys(K, call.allowed)).named("K_bar"), V_bar = matmul(f, hide_keys(V, call.allowed)).named("V_bar");
  return attention_steps(Q, K_bar, V_bar);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
