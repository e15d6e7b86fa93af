// Parameters as the page's sweep left them. A parameter's memory is its own, not the tape's: other tapes of the lesson add to its
// gradient, and an optimiser changes its value. What speaks of the page's tape at the end must see the numbers of its sweep.
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

void Page::keep_parameters() {
  parameters_.clear();
  for (const Node& n : tape.nodes)
    if (n.param && n.grad.data) parameters_.push_back({n.param, n.version, Matrix(HostView(tape.be, n.value)), Matrix(HostView(tape.be, n.grad))});
}

// Back into the same memory, once the lesson is over. A value that a replay or a later line has read since stays as it is.
void Page::restore_parameters() {
  for (const SweptParameter& kept : parameters_) {
    bool swept = false, newer = false;
    for (const Node& n : tape.nodes) {
      if (n.param != kept.param) continue;
      swept |= n.grad.data != nullptr;
      newer |= n.version != kept.version;
    }
    if (swept) tape.be.from_host(kept.grad, kept.param->grad);
    if (newer || kept.param->version == kept.version) continue;
    tape.be.from_host(kept.value, kept.param->value);
    kept.param->version = kept.version;
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
