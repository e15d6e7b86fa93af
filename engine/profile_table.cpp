// A profile as text: by op, then by line.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/profile.h"

namespace glass {
inline namespace GLASS_PRECISION {

namespace {

struct Unit {
  const char* prefix;
  double size;
};

Unit unit_of(double largest) {
  if (largest < 1e6) return {"k", 1e3};
  return largest < 1e9 ? Unit{"M", 1e6} : Unit{"G", 1e9};
}

std::string brief(double x) {  // three digits
  return fmt::format("{:.{}f}", x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0);
}

std::string percent(double share) { return fmt::format("{:.0f}", 100 * share); }

double per_second(double n, double ns) { return ns > 0 ? n / ns * 1e9 : 0; }

// Which side of the roof the op stands under; in brackets if it stays below a tenth of it. Williams, Waterman and Patterson 2009.
std::string limit_of(Cost c, double ns, const Limits& limits) {
  const double arithmetic = c.flops / limits.flops, memory = c.bytes / limits.bytes;  // seconds, at least
  const std::string side = memory >= arithmetic ? "memory" : "FLOPs";
  return 1e9 * std::max(arithmetic, memory) < ns / 10 ? "(" + side + ")" : side;
}

std::string place_of(const Where& where) {  // "attention.cpp:41"
  const std::string text = to_text(where);
  return text.substr(text.rfind('/') + 1);
}

// The end of a place is what one looks for: "…attention.cpp:41".
std::string clip_left(const std::string& s, int width, bool ascii) {
  if (int(s.size()) <= width) return s;  // names of source files are ASCII
  return (ascii ? "~" : "…") + s.substr(s.size() - std::size_t(width - 1));
}

constexpr int kWho = 20;  // columns for the name of a line

struct Columns {
  bool ms;
  Unit flops, bytes;
  double ns;  // of the step: what a share is a share of
  const char* time() const { return ms ? "ms" : "us"; }
  std::string time(double t) const { return brief(t / (ms ? 1e6 : 1e3)); }
  std::string share(double t) const { return ns > 0 ? percent(t / ns) : "-"; }
};

std::string op_row(const Profile::Total& t, const Columns& c, const Limits& limits) {
  const double flops = per_second(t.cost.flops, t.ns), bytes = per_second(t.cost.bytes, t.ns);
  return fmt::format("   {:<16} {:>5} {:>5} {:>3} {:>5} {:>5} {:>4} {:>5} {:>5} {:>4}  {}\n", t.op, fmt::format("{:.4g}", t.calls), c.time(t.ns),
                     c.share(t.ns), brief(t.cost.flops / c.flops.size), brief(flops / 1e9), percent(flops / limits.flops),
                     brief(t.cost.bytes / c.bytes.size), brief(bytes / 1e9), percent(bytes / limits.bytes), limit_of(t.cost, t.ns, limits));
}

std::string line_row(const Profile& p, const Profile::Line& l, const Columns& c, const Limits& limits, const Style& style) {
  const long n = p.runs();
  const double ns = l.ns(n);
  const Cost cost = l.cost(n);
  std::string who = l.parent < 0 ? fmt::format("%{} ", l.id) : fmt::format("%{} in %{} ", l.id, p.lines[std::size_t(l.parent)].id);
  who = clip(who + l.op + (l.name.empty() ? "" : " " + l.name), kWho, style.ascii);
  who.resize(who.size() + std::size_t(kWho - display_width(who)), ' ');
  const std::string where = (l.scope.empty() ? "" : l.scope + " ") + place_of(l.where);
  return fmt::format("   {} {:>5} {:>5} {:>3} {:>5} {:>4} {:>5} {:>4}  {}\n", who, c.time(l.forward.ns(n)), c.time(l.backward.ns(n)), c.share(ns),
                     brief(cost.flops / c.flops.size), percent(per_second(cost.flops, ns) / limits.flops), brief(cost.bytes / c.bytes.size),
                     percent(per_second(cost.bytes, ns) / limits.bytes), clip_left(where, std::max(17, style.width - 63), style.ascii));
}

}  // namespace

std::string Profile::table(const Limits& limits, const Style& style, int most) const {
  const long n = runs();
  if (lines.empty()) return "   no op has run\n";
  const Cost all = cost();
  const double in_ops = ns(), step = std::max(step_ns, in_ops);
  const Columns c{step >= 1e7, unit_of(all.flops), unit_of(all.bytes), step};

  std::string out = fmt::format("   {:<16} {:>5} {:>5} {:>3} {:>5} {:>5} {:>4} {:>5} {:>5} {:>4}  limit\n", "op", "calls", c.time(), "%",
                                std::string(c.flops.prefix) + "FLOP", "GF/s", "%", std::string(c.bytes.prefix) + "B", "GB/s", "%");
  double calls = 0;
  for (const Total& t : by_op()) {
    out += op_row(t, c, limits);
    calls += t.calls;
  }
  out += op_row({"all ops", calls, in_ops, all}, c, limits);
  if (step_ns > 0) {
    const double rest = std::max(step_ns - in_ops, 0.0);
    out += fmt::format("   {:<16} {:>5} {:>5} {:>3}  {:.0f} ns a call: tape, zeroing gradients\n", "the rest", "", c.time(rest), c.share(rest), rest / calls);
    out += fmt::format("   {:<16} {:>5} {:>5}\n", "a step", "", c.time(step_ns));
  }

  const std::vector<Line> sorted = by_time();
  const std::size_t shown = std::min(sorted.size(), std::size_t(std::max(most, 0)));
  out += fmt::format("\n   {:<20} {:>5} {:>5} {:>3} {:>5} {:>4} {:>5} {:>4}  recorded at\n", "line", c.time(), "back", "%",
                     std::string(c.flops.prefix) + "FLOP", "%", std::string(c.bytes.prefix) + "B", "%");
  for (std::size_t i = 0; i < shown; ++i) out += line_row(*this, sorted[i], c, limits, style);
  double hidden = 0;
  for (std::size_t i = shown; i < sorted.size(); ++i) hidden += sorted[i].ns(n);
  if (shown < sorted.size()) out += fmt::format("   {} more lines, together {} %\n", sorted.size() - shown, c.share(hidden));

  const std::string legend = fmt::format(
      "A step is forward and back, once; {} ran, and each line counts with its fastest. Measured, so no two runs are alike. calls, {}, the first %: in a step. "
      "FLOP and bytes are counted (engine/cost.h), GF/s and GB/s are those by the time. The other %: of this machine's peak of {} GFLOP/s in {} and of its memory's {} GB/s "
      "with {} ({} and {} with one), measured just now; above 100 % the numbers came from a cache. limit: with fewer than {} FLOPs for each byte (peak / bandwidth) "
      "it is memory, with more FLOPs; in brackets where less than a tenth of that limit is reached.",
      n, c.time(), brief(limits.flops / 1e9), sizeof(Real) == 4 ? "float" : "double", brief(limits.bytes / 1e9), limits.threads == 1 ? "1 thread" : std::to_string(limits.threads) + " threads",
      brief(limits.flops_of_one / 1e9), brief(limits.bytes_of_one / 1e9), brief(limits.flops / limits.bytes));
  return out + "\n" + folded("   " + legend, style.width) + "\n";
}

}  // namespace GLASS_PRECISION
}  // namespace glass
