#include "layers/optim/sgd.h"

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

Sgd::Sgd(ParamStore& params, double r, double m, bool n) : store(params), rate(r), momentum(m), nesterov(n), v(params) {
  if (!(momentum >= 0 && momentum < 1)) {
    throw InputError("sgd: the momentum must be from 0 to below 1, not " + to_text(momentum));
  }
}

void Sgd::step() {
  if (v.size() != store.all.size()) {
    throw InputError("sgd: the store has got parameters since the optimiser was made");
  }
  for (std::size_t b = 0; b < store.blocks.size(); ++b) {
    const ParamBlock& block = store.blocks[b];
    Backend& be = *block.values.home();
    const Mat w = block.value(), g = block.grad(), sum = v.block(b);
    be.scale(sum, Real(momentum), sum);
    be.add_scaled(1, g, sum);
    if (nesterov) be.add_scaled(Real(-rate), g, w);
    be.add_scaled(Real(nesterov ? -rate * momentum : -rate), sum, w);
  }
  for (Param& p : store.all) p.changed();
}

}  // namespace GLASS_PRECISION
}  // namespace glass
