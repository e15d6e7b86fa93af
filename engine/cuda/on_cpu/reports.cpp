// What the scheduler says when a block cannot go on: who waits where.
#include <cstdio>

#include "state.h"

namespace cuda_on_cpu {

std::string name_of(const Thread& t) {
  return "(" + std::to_string(t.index.x) + "," + std::to_string(t.index.y) + "," + std::to_string(t.index.z) + ")";
}
std::string place(const Where& w) {
  const std::string file = w.file;
  return file.substr(file.rfind('/') + 1) + ":" + std::to_string(w.line);
}
std::string who_waits_where() {
  std::map<std::string, std::vector<unsigned>> groups;
  for (unsigned i = 0; i < block_size; ++i) {
    const Thread& t = threads[i];
    char mask[32];
    std::snprintf(mask, sizeof mask, " for lanes 0x%08x", t.mask);
    groups[t.state == State::done         ? "have returned from the kernel"
           : t.state == State::at_barrier ? "wait at the block barrier, " + place(t.where)
           : t.state == State::at_warp    ? "wait at the warp operation, " + place(t.where) + mask
                                          : "could run"]
        .push_back(i);
  }
  std::string text;
  for (const auto& [what, who] : groups) {
    text += "\n  threads";
    for (std::size_t i = 0; i < who.size();) {
      std::size_t j = i;
      while (j + 1 < who.size() && who[j + 1] == who[j] + 1) ++j;
      text += " " + name_of(threads[who[i]]) + (j > i ? ".." + name_of(threads[who[j]]) : "");
      i = j + 1;
    }
    text += " " + what;
  }
  return text;
}

}  // namespace cuda_on_cpu
