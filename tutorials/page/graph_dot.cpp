#include "tutorials/page/graph.h"

namespace glass {
inline namespace GLASS_PRECISION {

static std::string quoted(const std::string& text) {  // DOT knows two special characters between quotes
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "\"";
}

static const char* fill(const std::string& kind) {
  return kind == "input" ? "#ddf4ff" : kind == "param" ? "#fff1cc" : kind == "op" ? "#ffffff" : "#f0f0f0";
}

std::string tape_dot(const Tape& tape, const std::string& title) {
  std::string out = "// Every line of the tape; an arrow leads from a line to the line that reads it.  dot -Tsvg tape.dot > tape.svg\n";
  out += "digraph tape {\n  label=" + quoted(title) + ";\n  labelloc=t;\n  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=11];\n";
  for (std::size_t id = 0; id < tape.nodes.size(); ++id) {
    const BoxText t = box_text(tape, int(id));
    const std::string head = quoted(t.head), shape = quoted(t.shape), source = quoted(t.source);
    out += "  n" + std::to_string(id) + " [label=" + head.substr(0, head.size() - 1) + "\\n" + shape.substr(1, shape.size() - 2) + "\\n" +
           source.substr(1) + ", fillcolor=\"" + fill(t.kind) + "\"];\n";
  }
  for (std::size_t id = 0; id < tape.nodes.size(); ++id) {
    const Node& n = tape.nodes[id];
    for (int i = 0; i < n.n_in; ++i) {
      out += "  n" + std::to_string(n.in[i]) + " -> n" + std::to_string(id) + (n.view_of >= 0 ? " [style=dashed]" : "") + ";\n";
    }
  }
  return out + "}\n";
}

}  // namespace GLASS_PRECISION
}  // namespace glass
