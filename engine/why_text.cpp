#include "engine/why_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/gradcheck.h"
#include "engine/print.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr int kName = 26;  // columns of a name with its indent

static std::string six(double x) { return std::isnan(x) ? "nan" : fmt::format("{:.6g}", x == 0 ? 0.0 : x); }

static std::string indented(const std::string& text, int level) { return std::string(std::size_t(3 + 2 * level), ' ') + text; }

static std::string power(double tolerance) { return fmt::format("(< 1e{})", int(std::lround(std::log10(tolerance)))); }

static std::string row(const std::string& name, int level, const std::string& a, const char* times, const std::string& b, const char* equals, const std::string& c) {
  std::string line = fmt::format("{:<{}} {:>12} {:1} {:>12} {:1} {:>12}", indented(name, level), kName, a, times, b, equals, c);
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

static constexpr int kRow = kName + 3 * 13 + 2 * 2;  // columns of a whole row

static std::string numbers(std::size_t n) { return std::to_string(n) + (n == 1 ? " number" : " numbers"); }

// Which lines sent something, and how many numbers of each: "Q[0,2] goes into 6 numbers of %4 matmul "Q"".
static std::string senders(const Tape& tape, const Why& why, const std::string& name) {
  std::string text;
  for (int id = 0; id < int(tape.nodes.size()); ++id) {
    std::size_t n = 0;
    int via = -1;
    for (const WhyTerm& t : why.terms)
      if (t.line == id) ++n, via = t.via;
    if (!n) continue;
    text += fmt::format("   {} {} of {}", text.empty() ? name + " goes into" : std::string(display_width(name), ' ') + "  and into", numbers(n), label(tape, id));
    text += (via >= 0 ? ", by way of " + label(tape, via) : "") + "\n";
  }
  return text;
}

// ---------------------------------------------------------------------------------- one level

std::string WhyTeller::words_behind(const std::string& line, const Entry& e) const {
  const std::string text = words(e);
  if (text.empty()) return line + "\n";
  return line + std::string(std::size_t(std::max(0, kRow - display_width(line)) + 2), ' ') + clip(text, 80 - kRow - 2, false) + "\n";
}

std::string WhyTeller::deeper(const Why& why, const WhyTerm& t, int level) {
  if (level + 1 >= depth) return "";
  const Why next = why.gradient ? why_gradient(tape, t.line, t.row, t.col) : why_value(tape, t.line, t.row, t.col);
  return parts(next, level + 1);
}

std::string WhyTeller::parts(const Why& why, int level) { return why.gradient ? gradient(why, level) : value(why, level); }

std::string WhyTeller::sum_line(const Why& why, int level) {
  const bool both_nan = std::isnan(why.sum) && std::isnan(why.stored);
  ok &= why.adds_up() || both_nan;
  std::string verdict = "adds up " + power(why_tolerance());
  if (both_nan) verdict = "not a number, because a part of it is not";
  else if (!why.adds_up()) verdict = "DOES NOT ADD UP: off by " + six(why.stored - why.sum);
  if (level > 0) return indented(fmt::format("= {}, {}", six(why.sum), verdict), level) + "\n";
  std::string text = row("sum", 0, "", "", "", "", six(why.sum)) + "\n" + row("stored", 0, "", "", "", "", six(why.stored)) + "\n";
  text += "   " + verdict + "\n";
  if (why.adds_up() || both_nan || !tape.nodes[std::size_t(why.line)].param) return text;
  return text + "   (A parameter keeps what earlier sweeps gave it, until zero_grad().)\n";
}

std::string WhyTeller::local_line(const Why& why) {
  const WhyGap gap = why_locals(tape, why);
  ok &= gap.ok();
  if (gap.ok()) return "   each local derivative = central differences of its line: ok " + power(gradient_tolerance()) + "\n";
  return fmt::format("   WRONG RULE: {} has ∂{}/∂{} = {}, by differences {}\n", label(tape, gap.line), name({gap.line, false, gap.row, gap.col}),
                     name({why.line, false, why.row, why.col}), six(gap.taped), six(gap.numeric));
}

std::string WhyTeller::gradient(const Why& why, int level) {
  if (why.given) return indented(level ? "the seed, given" : "It was given: the seed of the sweep, the gradient of " + label(tape, why.line) + ".", level) + "\n";
  if (why.terms.empty() && level) return "";
  if (why.terms.empty()) return "   No line that leads to the root uses it.\n" + sum_line(why, level) + local_line(why);
  const std::string x = name({why.line, false, why.row, why.col});
  std::string text;
  if (level == 0) {
    text += senders(tape, why, x) + "   What came back (upstream), times how much it moves with " + x + " (local):\n";
    text += row("", 0, "upstream", "", "local", "", "product") + "\n";
  }
  const std::size_t shown = std::min(why.terms.size(), std::size_t(top));
  for (std::size_t k = 0; k < shown; ++k) {
    const WhyTerm& t = why.terms[k];
    text += words_behind(row(name({t.line, true, t.row, t.col}), level, six(t.upstream), "×", six(t.local), "=", six(t.product)), {t.line, true, t.row, t.col});
    text += deeper(why, t, level);
  }
  double rest = 0;
  for (std::size_t k = shown; k < why.terms.size(); ++k) rest += why.terms[k].product;
  if (shown < why.terms.size()) text += row(fmt::format("and {} more", why.terms.size() - shown), level, "", "", "", "", six(rest)) + "\n";
  return text + sum_line(why, level) + (level ? "" : local_line(why));
}

std::string WhyTeller::value(const Why& why, int level) {
  const Node& n = tape.nodes[std::size_t(why.line)];
  const Entry e{why.line, false, why.row, why.col};
  if (why.given) return level ? "" : "   It was given: " + label(tape, why.line) + " is a leaf of the tape, " + to_text(n.value.rows, n.value.cols) + ".\n";
  std::string formula = arithmetic(e), text;
  if (formula.empty()) formula = n.op;
  const bool same = why.sum == why.stored || (std::isnan(why.sum) && std::isnan(why.stored));
  ok &= same;
  text += level ? "" : fmt::format("   {} = {} = {}\n", name(e), formula, six(why.sum));
  if (!same) text += indented(fmt::format("DOES NOT ADD UP: stored is {}, computed again {}", six(why.stored), six(why.sum)), level) + "\n";
  else if (!level) text += "   computed again by " + label(tape, why.line) + ": the stored value, bit for bit\n";
  if (why.terms.empty()) return text + indented("It moves with no entry of its operands.", level) + "\n";
  if (level == 0) text += row("It moves with", 0, "value", "", "local", "", "") + "\n";
  const std::size_t shown = std::min(why.terms.size(), std::size_t(top));
  for (std::size_t k = 0; k < shown; ++k) {
    const WhyTerm& t = why.terms[k];
    text += words_behind(row(name({t.line, false, t.row, t.col}), level, six(t.upstream), "", six(t.local), "", ""), {t.line, false, t.row, t.col});
    text += deeper(why, t, level);
  }
  if (shown < why.terms.size()) text += indented(fmt::format("and {} more", why.terms.size() - shown), level) + "\n";
  return text;
}

std::string WhyTeller::tell(const Entry& e) {
  const Why why = e.gradient ? why_gradient(tape, e.line, e.row, e.col) : why_value(tape, e.line, e.row, e.col);
  std::string title = fmt::format("Why {} = {}", name(e), six(why.stored));
  if (!words(e).empty()) title += "   " + words(e);
  if (why.line != e.line) title += fmt::format("   (the memory of {})", name({why.line, e.gradient, why.row, why.col}));
  return folded(title + "\n" + parts(why, 0), 80);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
