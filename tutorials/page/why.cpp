// --why ENTRY: one number of the page's tape, explained by those that made it. A gradient is explained right after the sweep that
// made it, for a lesson may go on and sweep again; a value at the end.
#include "tutorials/page/page_teller.h"

#include <fmt/format.h>

#include <cmath>

namespace glass {
inline namespace GLASS_PRECISION {

std::string PageTeller::words(const Entry& e) const {
  const auto found = speller.page.axes_.find(e.line);
  if (found == speller.page.axes_.end()) return "";
  const Labels &rows = found->second.rows, &cols = found->second.cols;
  const std::string row = e.row < int(rows.size()) ? rows[std::size_t(e.row)] : "", col = e.col < int(cols.size()) ? cols[std::size_t(e.col)] : "";
  return row + (row.empty() || col.empty() ? "" : ", ") + col;
}

// --why all: every entry of every gradient, and the value of every line.
std::string Page::explain_all(bool& ok) {
  long values = 0, gradients = 0;
  for (int id = 0; id < int(tape.nodes.size()); ++id) {
    const Node& n = tape.nodes[std::size_t(id)];
    progress("explaining " + glass::label(tape, id), id, long(tape.nodes.size()));
    for (int r = 0; r < n.value.rows; ++r) {
      for (int c = 0; c < n.value.cols; ++c) {
        const Why value = why_value(tape, id, r, c);
        ok &= value.sum == value.stored || value.sum != value.sum;
        ++values;
        if (ok && n.grad.data) {
          const Why gradient = why_gradient(tape, id, r, c);
          ok &= gradient.adds_up() && why_locals(tape, gradient).ok();
          ++gradients;
        }
        if (!ok) return PageTeller(*this, tape).tell({id, value.sum == value.stored, r, c});
      }
    }
  }
  progress("");
  return fmt::format("Why all: {} entries of values are what their lines compute again, bit for bit;\n"
                     "         {} entries of gradients are the sums of their parts (< 1e{}),\n"
                     "         and each local derivative is that of central differences (< 1e{})\n",
                     values, gradients, int(std::lround(std::log10(why_tolerance()))), int(std::lround(std::log10(gradient_tolerance()))));
}

void Page::explain(bool at_end) {
  for (std::size_t k = 0; k < options.why.size(); ++k) {
    const std::string& what = options.why[k];
    bool told = false;
    for (const Told& t : told_) told |= t.asked == k;
    if (at_end && told) continue;
    try {
      if (what == "all" && !tape.nodes.empty()) {
        bool ok = true;
        told_.push_back({k, glass::label(tape, root_.tape ? root_.id : 0), explain_all(ok)});
        verdicts_.push_back({"why all", ok ? "ok" : "WRONG", ok});
        continue;
      }
      const Entry entry = find_entry(tape, what);
      if (!at_end && !tape.nodes[std::size_t(entry.line)].grad.data) continue;
      if (!at_end && !entry.gradient) continue;
      PageTeller teller(*this, tape);
      teller.depth = options.depth;
      teller.top = options.top;
      const std::string text = teller.tell(entry);
      told_.push_back({k, at_end ? "" : glass::label(tape, root_.id), text});
      verdicts_.push_back({"why " + what + ": every sum adds up", teller.ok ? "ok" : "WRONG", teller.ok});
    } catch (const Error& e) {
      if (!at_end) continue;  // the lesson may still record that line
      const std::string who = dynamic_cast<const InputError*>(&e) ? "--why " : "--why \"" + what + "\": ";
      throw InputError(who + e.what() + (root_.tape ? "" : "\n  This lesson goes back on tapes of its own only, and --why sees the page's."));
    }
  }
}

std::string Page::explained() const {
  std::string text;
  for (const Told& t : told_) {
    std::size_t sweeps = 0;
    for (const Told& other : told_) sweeps += other.asked == t.asked;
    const std::string root = sweeps > 1 ? "In the sweep from " + t.root + ":\n" : "";
    text += "\n" + root + t.text;
  }
  return spelled(text);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
