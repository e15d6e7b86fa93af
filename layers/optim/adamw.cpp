#include "layers/optim/adamw.h"

#include <cmath>

#include "engine/backend.h"
#include "engine/errors.h"

namespace glass {
inline namespace GLASS_PRECISION {

bool decays(const Param& p) { return p.value.rows() > 1; }

AdamW::AdamW(ParamStore& params, double r, double d) : store(params), rate(r), decay(d), m(params), v(params) {}

void AdamW::step() {
  if (m.size() != store.all.size()) {
    throw InputError("adamw: the store has got parameters since the optimiser was made");
  }
  ++t;
  AdamWStep step{rate, 1, beta1, beta2, eps, 1 - std::pow(beta1, double(t)), 1 - std::pow(beta2, double(t))};
  for (std::size_t b = 0; b < store.blocks.size(); ++b) {
    const ParamBlock& block = store.blocks[b];
    step.keep = block.matrices ? 1 - rate * decay : 1;
    block.values.home()->adamw(block.grad(), step, m.block(b), v.block(b), block.value());
  }
  for (Param& p : store.all) p.changed();
}

}  // namespace GLASS_PRECISION
}  // namespace glass
