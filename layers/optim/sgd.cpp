#include "layers/optim/sgd.h"

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

Sgd::Sgd(ParamStore& params, double r, double m, bool n) : store(params), rate(r), momentum(m), nesterov(n) {
  if (!(momentum >= 0 && momentum < 1)) {
    throw InputError("sgd: the momentum must be from 0 to below 1, not " + to_text(momentum));
  }
  for (const Param& p : store.all) v.emplace_back(p.value.shape());
}

void Sgd::step() {
  if (v.size() != store.all.size()) {
    throw InputError("sgd: the store has got parameters since the optimiser was made");
  }
  for (std::size_t k = 0; k < v.size(); ++k) {
    Param& p = store.all[k];
    Backend& home = *p.value.home();
    const HostView value(home, p.value), gradient(home, p.grad);  // the parameter itself, or a copy from a device
    const Mat w = value, g = gradient;
    for (int i = 0; i < w.rows; ++i) {
      for (int j = 0; j < w.cols; ++j) {
        v[k](i, j) = Real(momentum * v[k](i, j) + g(i, j));
        w(i, j) -= Real(rate * (nesterov ? g(i, j) + momentum * v[k](i, j) : v[k](i, j)));
      }
    }
    if (!home.host_readable()) home.from_host(w, p.value);
    p.changed();
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
