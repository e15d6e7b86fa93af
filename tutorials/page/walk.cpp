#include "tutorials/page/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/entry.h"
#include "tutorials/page/page_teller.h"
#include "tutorials/page/terminal.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const char* const kHelp =
    "   f, b          a step on, back (f 3: three)     s   to where the sweep begins\n"
    "   0, $          to the first, the last step      t   the whole tape\n"
    "   j NAME        to line NAME; j dNAME on the way back; j %7, j d%7 by number\n"
    "   w ENTRY       why is it what it is? For example  w dW_q[1,2]\n"
    "   n ENTRY H     nudge it by H (or by 0.1), see what changes, put it back\n"
    "   h             this help                        q   end\n";

Walk::Walk(Page& page) : page_(page), tape_(page.tape) {
  const int lines = int(tape_.nodes.size());
  for (int id = 0; id < lines; ++id) stops_.push_back({id, false});
  for (int id = lines - 1; id >= 0; --id)
    if (tape_.nodes[std::size_t(id)].reached) stops_.push_back({id, true});
}

std::string Walk::line_text(int id) const {
  const Node& n = tape_.nodes[std::size_t(id)];
  std::string text = label(tape_, id) + fmt::format("  {}", to_text(n.value.rows, n.value.cols));
  for (int i = 0; i < n.n_in; ++i) text += (i ? ", " : n.view_of >= 0 ? "  a block of " : "  of ") + line_name(tape_, n.in[i]);
  return text + "\n   recorded at " + to_text(n.where) + "\n";
}

std::string Walk::here() const {
  if (stops_.empty()) return "The tape is empty.\n";
  const auto [id, back] = stops_[at_];
  const Node& n = tape_.nodes[std::size_t(id)];
  const Var v = tape_.var(id);
  const std::string name = line_name(tape_, id);
  std::string text = fmt::format("Step {} of {}, {}: ", at_ + 1, stops_.size(), back ? "back" : "forward") + line_text(id);
  std::vector<Block> blocks = {page_.block(v, fmt::format(" {}  {}", name, to_text(n.value.rows, n.value.cols)), HostView(tape_.be, n.value))};
  if (back) {
    std::string to;
    for (int i = 0; i < n.n_in && n.rule; ++i) {
      if (tape_.nodes[std::size_t(n.in[i])].reached) to += (to.empty() ? "d" : ", d") + line_name(tape_, n.in[i]);
    }
    const bool root = id == page_.root_.id;
    text += fmt::format("   d{} is {}.{}\n", name, root ? "the seed, which was given" : "complete: every line that uses it was visited",
                        to.empty() ? "" : " Its rule adds to " + to + ".");
    blocks.push_back(page_.block(v, " d" + name, HostView(tape_.be, n.grad)));
  }
  return folded(page_.spelled(text), page_.options.width) + figure(blocks, page_.style());
}

// Forward or back by so many steps, and no further than the ends.
std::string Walk::moved(long by, bool typed) {
  const long last = long(stops_.size()) - 1, to = std::clamp(long(at_) + by, 0L, std::max(0L, last));
  const bool stuck = to == long(at_) && by != 0 && typed;
  at_ = std::size_t(to);
  return (stuck ? (by < 0 ? "This is the first step.\n" : "This is the last step.\n") : "") + here();
}

std::string Walk::jump(const std::string& name) {
  const Entry e = find_entry(tape_, name.find('[') == std::string::npos ? name + "[0,0]" : name);
  for (std::size_t k = 0; k < stops_.size(); ++k) {
    if (stops_[k].line != e.line || stops_[k].back != e.gradient) continue;
    at_ = k;
    return here();
  }
  return label(tape_, e.line) + " has no gradient: the sweep does not come by.\n";
}

std::string Walk::nudge(const std::string& rest) {
  const std::size_t bracket = std::min(rest.find(']'), rest.size()), blank = rest.find(' ', bracket);
  const Entry e = find_entry(tape_, rest.substr(0, blank));
  if (e.gradient) return "A gradient is not nudged; nudge the value: n " + entry_name(tape_, {e.line, false, e.row, e.col}) + "\n";
  double h = 0.1;
  if (blank != std::string::npos) {
    const std::string step = rest.substr(blank + 1);
    const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), h);
    if (error != std::errc() || end != step.data() + step.size() || !std::isfinite(h) || h == 0) return "\"" + step + "\" is not a step: write a number that is not 0, such as 0.1\n";
  }
  const int root = page_.root_.tape == &tape_ ? page_.root_.id : -1;
  if (root >= 0 && e.line > root) return label(tape_, e.line) + " comes after the root " + label(tape_, root) + ": it changes nothing there.\n";
  const double x = double(HostView(tape_.be, tape_.nodes[std::size_t(e.line)].value)(e.row, e.col));
  const Nudge n = nudged(tape_, e.line, e.row, e.col, h, root, page_.seed_);
  std::string text = fmt::format("Nudge {}: {:.6g} becomes {:.6g}\n", entry_name(tape_, e), x, x + h);
  text += n.changes.empty() ? "   No later line changes.\n" : "   What changes          numbers   largest change\n";
  for (const Nudge::Change& c : n.changes) {
    const Mat m = tape_.nodes[std::size_t(c.line)].value;
    text += fmt::format("   {:<18} {:>3} of {:>3} {:>16.6g}\n", clip(line_name(tape_, c.line), 18, page_.options.ascii), c.entries, m.rows * m.cols, c.most);
  }
  if (n.otherwise >= 0) {
    text += folded("   A fresh run would choose otherwise at " + label(tape_, n.otherwise) + ", and differ from there on. This replay keeps the choice, as the sweep did.",
                   page_.options.width) + "\n";
  }
  if (root >= 0) {
    const Node& line = tape_.nodes[std::size_t(e.line)];
    const double taped = line.grad.data ? double(HostView(tape_.be, line.grad)(e.row, e.col)) : 0;
    text += fmt::format("   L = sum of d{0} ∘ {0}: {1:.6g} becomes {2:.6g}\n", line_name(tape_, root), n.before, n.after);
    text += fmt::format("   The taped gradient is {:.9g}. The secant meets it, until rounding wins:\n        h        (L(x+h) − L(x)) / h    off by\n", taped);
    for (const Nudge::Slope& s : n.slopes) {
      const bool rounded = std::numeric_limits<Real>::epsilon() * std::fabs(n.before / s.h) > 1e-10 * std::fabs(s.secant);  // in the digits that are shown
      text += fmt::format("{} {:>7.0e} {:>22.9g} {:>12.1e}\n", rounded ? " ~" : "  ", s.h, s.secant, std::fabs(s.secant - taped));
    }
    text += "   (~: the last digits are rounding; another machine may show others.)\n";
  }
  text += n.restored ? "   Put back: every number is as before, bit for bit.\n" : "   NOT PUT BACK: a line did not compute again what it had.\n";
  return page_.spelled(text);
}

static long count_of(const std::string& rest) {
  long n = 1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
  if (rest.empty()) return 1;
  if (error != std::errc() || end != rest.data() + rest.size() || n < 0) throw InputError("\"" + rest + "\" is not a number of steps");
  return std::min(n, 1000000000L);
}

std::string Walk::do_command(char letter, const std::string& rest) {
  const std::size_t first_back = std::size_t(std::find_if(stops_.begin(), stops_.end(), [](const Stop& s) { return s.back; }) - stops_.begin());
  const bool asks = letter == 'j' || letter == 'w' || letter == 'n';
  if (asks && rest.empty()) return std::string("Which one? For example: ") + letter + (letter == 'j' ? " A" : letter == 'w' ? " dX[0,1]" : " X[0,1] 0.1") + "\n";
  switch (letter) {
    case 'f': return moved(count_of(rest), true);
    case 'b': return moved(-count_of(rest), true);
    case '0': return moved(-long(at_), false);
    case '$': return moved(long(stops_.size()), false);
    case 's':
      if (first_back == stops_.size()) return "There was no sweep on this tape.\n";
      at_ = first_back;
      return here();
    case 'j': return jump(rest);
    case 'w': {
      PageTeller teller(page_, tape_);
      teller.depth = page_.options.depth;
      teller.top = page_.options.top;
      return page_.spelled(teller.tell(find_entry(tape_, rest)));
    }
    case 'n': return nudge(rest);
    case 't': return page_.spelled(tape_table(tape_, page_.style()));
    case 'h':
    case '?': return kHelp;
    case 'q': over_ = true; return "";
    default: return std::string("There is no command \"") + printable(std::string(1, letter)) + "\":\n" + kHelp;
  }
}

std::string Walk::command(const std::string& typed) {
  const std::size_t from = typed.find_first_not_of(" \t\r"), to = typed.find_last_not_of(" \t\r");
  const std::string text = from == std::string::npos ? "f" : typed.substr(from, to - from + 1);
  const std::size_t rest = text.find_first_not_of(" \t", 1);
  try {
    return do_command(text[0], rest == std::string::npos ? "" : text.substr(rest));
  } catch (const Error& e) {
    return printable(e.what()) + "\n";
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
