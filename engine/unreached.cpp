#include "engine/unreached.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Unreached follow(const Tape& tape, int leaf) {
  Unreached u{leaf, leaf, -1, ""};
  std::vector<bool> on_path(tape.nodes.size());
  on_path[std::size_t(leaf)] = true;
  for (int id = leaf + 1; id < int(tape.nodes.size()); ++id) {
    const Node& n = tape.nodes[std::size_t(id)];
    for (int i = 0; i < n.n_in; ++i) {
      if (!on_path[std::size_t(n.in[i])]) continue;
      if (n.needs_grad) {
        on_path[std::size_t(id)] = true;
        u.end = id;
      } else {
        u.cut = id;
      }
    }
  }
  const Node& end = tape.nodes[std::size_t(u.end)];
  u.text = label(tape, leaf) + " got no gradient: ";
  if (u.cut >= 0) {
    u.text += "its path is cut by " + label(tape, u.cut) + " at " + to_text(tape.nodes[std::size_t(u.cut)].where);
  } else if (u.end == leaf) {
    u.text += "nothing uses it (it came onto the tape at " + to_text(end.where) + ")";
  } else {
    u.text += "its path ends at " + label(tape, u.end) + ", recorded at " + to_text(end.where) + ", which leads nowhere";
  }
  return u;
}

std::vector<Unreached> unreached(const Tape& tape) {
  std::vector<Unreached> all;
  for (int id = 0; id < int(tape.nodes.size()); ++id) {
    const Node& n = tape.nodes[std::size_t(id)];
    const bool leaf = !n.rule && n.view_of < 0;
    if (leaf && n.needs_grad && !n.reached) all.push_back(follow(tape, id));
  }
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
