#include "layers/optim/adamw.h"

#include <cmath>

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

bool decays(const Param& p) { return p.value.rows() > 1; }

AdamW::AdamW(ParamStore& params, double r, double d) : store(params), rate(r), decay(d) {
  for (const Param& p : store.all) {
    m.emplace_back(p.value.shape());
    v.emplace_back(p.value.shape());
  }
}

void AdamW::step() {
  if (m.size() != store.all.size()) {
    throw InputError("adamw: the store has got parameters since the optimiser was made");
  }
  ++t;
  const double correct1 = 1 - std::pow(beta1, double(t)), correct2 = 1 - std::pow(beta2, double(t));
  for (std::size_t k = 0; k < m.size(); ++k) {
    Param& p = store.all[k];
    Backend& home = *p.value.home();
    const HostView value(home, p.value), gradient(home, p.grad);  // the parameter itself, or a copy from a device
    const Mat w = value;
    const double keep = decays(p) ? 1 - rate * decay : 1;
    for (int i = 0; i < w.rows; ++i) {
      for (int j = 0; j < w.cols; ++j) {
        const double g = gradient(i, j);
        m[k](i, j) = Real(beta1 * m[k](i, j) + (1 - beta1) * g);
        v[k](i, j) = Real(beta2 * v[k](i, j) + (1 - beta2) * g * g);
        const double m_hat = m[k](i, j) / correct1, v_hat = v[k](i, j) / correct2;
        w(i, j) = Real(w(i, j) * keep - rate * m_hat / (std::sqrt(v_hat) + eps));
      }
    }
    if (!home.host_readable()) home.from_host(w, p.value);
    p.changed();
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
