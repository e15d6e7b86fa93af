// What leaves the lesson as a whole: --json and --csv on standard output, --svg and --dot into a file, --heat at the end of the text.
#include <fmt/format.h>

#include <algorithm>

#include "engine/io/save.h"
#include "tutorials/page/graph.h"
#include "tutorials/page/heat.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

bool Page::only_document() const { return options.json || !options.csv.empty() || options.svg == "-" || options.dot == "-"; }

// One of them, alone on standard output.
std::string Page::document() {
  if (options.json) return json();
  if (options.svg == "-") return svg();
  if (options.dot == "-") return tape_dot(tape, picture_title());
  if (csv_.empty()) throw InputError("--csv " + options.csv + ": this lesson shows no matrix of that name");
  return csv_;
}

std::string Page::picture_title() const { return options.lesson + "  " + lesson_info(options.lesson.c_str()).title; }

std::string Page::svg() const {
  return tape_svg(tape, picture_title(), fmt::format("The tape of {}: {} lines, each below the lines that it reads.", options.command, tape.nodes.size()));
}

void Page::save_pictures() {
  if (!options.html.empty()) {
    const std::string page = html();
    save_file(options.html, page);
    put(fmt::format("\nwrote {}, {:.1f} MB\n", options.html, double(page.size()) / 1e6));
  }
  if (!options.svg.empty() && options.svg != "-") {
    save_file(options.svg, svg());
    put("\nwrote " + options.svg + "\n");
  }
  if (!options.dot.empty() && options.dot != "-") {
    save_file(options.dot, tape_dot(tape, picture_title()));
    put("\nwrote " + options.dot + "\n");
  }
}

// ---------------------------------------------------------------------------------- --heat

std::vector<bool> hidden_weights(const Tape&, Var);  // figures.cpp

static bool holds_weights(const Node& n) {  // rows that sum to 1, or to 0; those that a fused line kept are a field
  for (const char* op : {"softmax", "sparsemax", "entmax15", "sparse_weights"})
    if (std::string(op) == n.op) return true;
  return std::string("field") == n.op && n.name[0] == 'A';
}

// A line of that name: one that a step showed, else the first. What a lesson compares it with comes later under the same name.
int Page::line_named(const std::string& name, bool gradient) {
  for (const Told& t : told_)
    for (const int id : gradient ? t.gradients : t.lines)
      if (name_of(tape.var(id)) == name && (!gradient || tape.var(id).has_grad())) return id;
  for (int id = 0; id < int(tape.nodes.size()); ++id)
    if (name_of(tape.var(id)) == name && (!gradient || tape.var(id).has_grad())) return id;
  return -1;
}

bool Page::heat_of_line(const std::string& name, bool gradient) {
  const int id = line_named(name, gradient);
  if (id < 0) return false;
  const Node& n = tape.nodes[std::size_t(id)];
  const HostView values(tape.be, gradient ? n.grad : n.value);
  const Block b = block(tape.var(id), "", values);
  const std::string full = (gradient ? "d" : "") + name;
  put("\n" + heat_map({fmt::format(" {}  %{}  {}", full, id, to_text(n.value.rows, n.value.cols)), values, b.rows, b.cols,
                       gradient ? std::vector<bool>{} : hidden_weights(tape, tape.var(id)), !gradient && holds_weights(n)}, style()));
  return true;
}

bool Page::heat_of_told(const std::string& name) {
  bool found = false;
  for (const Told& t : told_) {
    for (const ToldMatrix& m : t.matrices) {
      if (m.name != name) continue;
      put("\n" + heat_map({fmt::format(" {}  {}", name, to_text(m.values.rows(), m.values.cols())), m.values, m.rows, m.cols, {}, false}, style()));
      found = true;
    }
    for (const ToldSeries& c : t.curves) {
      if (c.name != name || c.values.empty()) continue;
      const auto [low, high] = std::minmax_element(c.values.begin(), c.values.end());
      put(fmt::format("\n {}  {}   {} to {}\n {}\n", name, spelled(c.title), number(*low, options.digits), number(*high, options.digits),
                      sparkline(c.values, options.width - 2, style())));
      found = true;
    }
  }
  return found;
}

// Every name that a step showed, each once, in that order.
Labels Page::told_names() {
  Labels names;
  for (const Told& t : told_) {
    for (const int id : t.lines) names.push_back(name_of(tape.var(id)));
    for (const ToldMatrix& m : t.matrices) names.push_back(m.name);
    for (const ToldSeries& c : t.curves) names.push_back(c.name);
    for (const int id : t.gradients) names.push_back("d" + name_of(tape.var(id)));
  }
  Labels once;
  for (const std::string& name : names)
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(name);
  return once;
}

void Page::heat() {
  const Labels names = options.heat == Labels{"all"} ? told_names() : options.heat;
  for (const std::string& name : names) {
    const bool line = heat_of_line(name, false) || (name[0] == 'd' && heat_of_line(name.substr(1), true));
    if (!line && !heat_of_told(name)) throw InputError("--heat " + name + ": this lesson has no matrix of that name");
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
