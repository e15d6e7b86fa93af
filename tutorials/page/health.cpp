// --health: how attention and gradients of the lesson's tape are doing.
#include "engine/health.h"

#include <fmt/format.h>

#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

// A short name for a line: its scope and its name, or its number.
static std::string who(const Tape& tape, int id) {
  const Node& n = tape.nodes[std::size_t(id)];
  const std::string name = *n.name ? n.name : "%" + std::to_string(id);
  return *n.scope ? std::string(n.scope) + " " + name : name;
}

void Page::health() {
  const std::vector<HeadHealth> heads = head_health(tape);
  const std::vector<LayerGradient>& layers = swept_;
  say("\nHealth of the lesson's tape:");
  if (heads.empty() && layers.empty()) {
    say("   neither weights of attention nor gradients of parameters are on it; the lesson may use tapes of its own.");
    return;
  }
  if (!heads.empty()) {
    put(spelled("   weights                     entropy  of at most  rows > 0.99  largest |score|\n"));
    for (const HeadHealth& h : heads) {
      const std::string score = h.largest_score == h.largest_score ? fmt::format("{:.4f}", h.largest_score) : "not kept";
      put(fmt::format("   {:<26} {:>8.4f} {:>11.4f} {:>10.0f} % {:>16}\n", who(tape, h.line).substr(0, 26), h.entropy, h.even, 100 * h.saturated, score));
    }
  }
  if (!layers.empty()) {
    put("   gradients of                   norm     numbers\n");
    for (const LayerGradient& l : layers) put(fmt::format("   {:<26} {:>8.4f} {:>11}\n", l.layer.substr(0, 26), l.norm, l.entries));
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
