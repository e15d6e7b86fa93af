// Handles: what a Var shows, and the words when it cannot.
#include <cstring>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const Node& line_of(Var v) {
  if (!v.tape) throw TapeError("an empty Var was used: nothing was recorded into it yet");
  return v.tape->node(v);
}

Mat Var::value() const { return line_of(*this).value; }

Shape Var::shape() const { return line_of(*this).value.shape(); }

bool Var::has_grad() const { return line_of(*this).grad.data != nullptr; }

Mat Var::grad() const {
  const Node& n = line_of(*this);
  if (!n.grad.data) {
    throw TapeError(label(*tape, id) + (n.needs_grad ? " has no gradient: no backward() has reached it"
                                                     : " has no gradient: it is a constant, or made of constants only"));
  }
  return n.grad;
}

Var Var::named(const char* name) const {
  line_of(*this);
  tape->nodes[std::size_t(id)].name = tape->intern(name);
  return *this;
}

Var Tape::find(const char* name) {
  for (int id = int(nodes.size()) - 1; id >= 0; --id) {
    if (std::strcmp(nodes[std::size_t(id)].name, name) == 0) return var(id);
  }
  throw TapeError("no line of the tape is called \"" + std::string(name) + "\"");
}

void Tape::refuse(Var v, const char* what) const {
  if (v.tape != this) {
    throw TapeError(std::string(what) + (v.tape ? ": a value from another tape was given" : ": an empty Var was given"));
  }
  std::string who = "%" + std::to_string(v.id);
  if (v.id >= 0 && v.id < int(gone_.size()) && gone_[std::size_t(v.id)].age == v.age) {
    const Gone& g = gone_[std::size_t(v.id)];
    who += std::string(" ") + g.op + (*g.name ? " \"" + std::string(g.name) + "\"" : "");
  }
  throw StaleVar(who + " is gone: the tape was rewound after this handle was made.\n"
                       "  Record it again, or copy its value into a Matrix before the rewind.");
}

std::string label(const Tape& tape, int id) {
  const Node& n = tape.nodes[std::size_t(id)];
  return "%" + std::to_string(id) + " " + n.op + (*n.name ? " \"" + std::string(n.name) + "\"" : "");
}

}  // namespace GLASS_PRECISION
}  // namespace glass
