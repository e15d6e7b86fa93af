#include <fmt/format.h>

#include "engine/print.h"
#include "tutorials/page/graph.h"
#include "tutorials/page/terminal.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr double kBox = 168, kTall = 54, kGap = 14, kStep = 92, kMargin = 24, kTop = 40;

static const char* const kStyle = R"(<style>
  text { font: 12px system-ui, "DejaVu Sans", sans-serif; fill: #1f2328; text-anchor: middle }
  .small { font-size: 11px; fill: #57606a }  .title { font-size: 15px; text-anchor: start }  .page { fill: #ffffff }
  rect { stroke: #8c959f; fill: #ffffff }  .input { fill: #ddf4ff }  .param { fill: #fff1cc }  .constant, .view { fill: #f0f2f4 }
  .view { stroke-dasharray: 4 3 }  path { fill: none; stroke: #8c959f }  .root { stroke: #0969da; stroke-width: 2.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }  .small { fill: #9da7b3 }  .page { fill: #0d1117 }  rect { stroke: #6e7681; fill: #161b22 }
    .input { fill: #0c2d4d }  .param { fill: #4a3a10 }  .constant, .view { fill: #262c36 }  path { stroke: #6e7681 }  .root { stroke: #58a6ff }
  }
</style>
)";

static std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

static double y_of(const Place& p) { return kTop + p.layer * kStep; }

// From the lower edge of a box to the upper edge of another, straight down at both ends and through every bend.
static std::string path_of(const Edge& e, const Drawing& d) {
  const Place& from = d.places[std::size_t(e.through[0])];
  double x = from.x, y = y_of(from) + kTall;
  std::string out = fmt::format("M{:.1f} {:.1f}", x + kMargin, y);
  for (std::size_t k = 1; k < e.through.size(); ++k) {
    const Place& to = d.places[std::size_t(e.through[k])];
    const double top = y_of(to), middle = (y + top) / 2;
    out += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x + kMargin, middle, to.x + kMargin, middle, to.x + kMargin, top);
    x = to.x, y = top;
    if (k + 1 < e.through.size()) y += kTall, out += fmt::format("V{:.1f}", y);
  }
  return out;
}

static std::string cut(const std::string& text) {  // what fits into a box; the whole is in its <title>
  return clip(text, 24, false);
}

static std::string end_of(const std::string& source) {  // the number of the line matters more than the beginning of the name
  return source.size() <= 27 ? source : "…" + source.substr(source.size() - 26);
}

std::string tape_svg(const Tape& tape, const std::string& title, const std::string& about) {
  const Drawing d = layout(tape, kBox, kGap);
  const double width = std::max(d.width, 420.0) + 2 * kMargin, height = kTop + std::max(1, d.layers) * kStep;
  std::vector<bool> read(tape.nodes.size());
  for (const Edge& e : d.edges) read[std::size_t(e.through[0])] = true;
  std::string out = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" role=\"img\">\n",
                                width, height, width, height);
  out += "<title>" + escaped(title) + "</title>\n<desc>" + escaped(about) + "</desc>\n" + kStyle;
  out += "<rect class=\"page\" width=\"100%\" height=\"100%\" stroke=\"none\"/>\n<text class=\"title\" x=\"24\" y=\"24\">" + escaped(title) + "</text>\n";
  for (const Edge& e : d.edges) out += "<path d=\"" + path_of(e, d) + "\"/>\n";
  for (std::size_t id = 0; id < tape.nodes.size(); ++id) {
    const BoxText t = box_text(tape, int(id));
    const Place& p = d.places[id];
    const double x = p.x + kMargin, y = y_of(p);
    out += fmt::format("<g><title>{}\n{}, {}</title><rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"6\"/>", escaped(t.head),
                       escaped(t.shape), escaped(to_text(tape.nodes[id].where)), t.kind, read[id] ? "" : " root", x - kBox / 2, y, kBox, kTall);
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text><text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y + 17, escaped(cut(t.head)), x,
                       y + 32, escaped(t.shape));
    out += fmt::format("<text class=\"small\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n", x, y + 46, escaped(end_of(t.source)));
  }
  return out + "</svg>\n";
}

}  // namespace GLASS_PRECISION
}  // namespace glass
