// --html: the lesson as one file for a browser, to be replayed. docs/html.md. Inside stand
//
//   the frame, style and program of tutorials/page/html          the same in every page
//   data    the document of --json, thinned if it would be too large
//   extra   why each gradient entry is what it is, source lines, what was left out
//
// Words come from anywhere. In the two documents < > & are written as \u003c ..., the title is escaped, and the program never reads
// text as HTML. The content security policy allows this one program, by its hash, and no network.
#include "tutorials/page/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/io/json_text.h"
#include "tutorials/page/pack.h"
#include "tutorials/page/page.h"
#include "tutorials/page/report.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const std::size_t kBytes = 14'000'000;  // for matrices; with all the rest a page stays below 20 MB
static const long kWhys = 6000;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : std::string(1, c);
  return out;
}

std::string filled(const std::string& frame, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t open; (open = frame.find("{{", at)) != std::string::npos;) {
    const std::size_t close = frame.find("}}", open);
    const std::string name = frame.substr(open + 2, close - open - 2);
    out += frame.substr(at, open - at);
    for (const auto& [key, value] : values)
      if (key == name) out += value;
    at = close + 2;
  }
  return out + frame.substr(at);
}

static std::string policy(const char* sha256) {  // 'sha256-...' of a content security policy
  std::vector<unsigned char> bytes;
  for (const std::string hex = sha256; bytes.size() < hex.size() / 2;) {
    bytes.push_back(static_cast<unsigned char>(std::stoi(hex.substr(2 * bytes.size(), 2), nullptr, 16)));
  }
  return "'sha256-" + base64(bytes) + "'";
}

// What a reader has to know about a page that does not hold everything.
static Labels left_out(const std::vector<Shape>& shapes, const Thin& thin) {
  std::size_t maps = 0, nothing = 0, means = 0;
  for (const Shape& s : shapes) {
    if (count(s) <= thin.numbers) continue;
    ++(thin.side ? maps : nothing);
    means += thin.side && (s.rows > thin.side || s.cols > thin.side);
  }
  Labels notes;
  if (maps) {
    std::string note = fmt::format("{} of {} matrices have more than {} entries: this page keeps 8 bits of each entry", maps, shapes.size(), thin.numbers);
    if (means) note += fmt::format(", and of {} only the means of blocks, at most {} x {}", means, thin.side, thin.side);
    notes.push_back(note + ". All digits: --json, or --csv NAME.");
  }
  if (nothing) notes.push_back(fmt::format("{} of {} matrices are left out: the page would be too large. --json, or --csv NAME, writes them.", nothing, shapes.size()));
  return notes;
}

std::string Page::html() {
  std::vector<Shape> shapes;
  std::vector<int> asked;  // gradients that were shown, then all others
  for (const Told& t : told_) {
    asked.insert(asked.end(), t.gradients.begin(), t.gradients.end());
    for (const ToldMatrix& m : t.matrices) shapes.push_back(m.values.shape());
  }
  for (int id = 0; id < int(tape.nodes.size()); ++id) {
    const Node& n = tape.nodes[std::size_t(id)];
    shapes.push_back(n.value.shape());
    if (!n.grad.data) continue;
    shapes.push_back(n.grad.shape());
    if (std::find(asked.begin(), asked.end(), id) == asked.end()) asked.push_back(id);
  }
  const Thin thin = thin_for(shapes, kBytes);
  JsonObject extra;
  extra.add("schema", to_json(1));
  extra.add("left_out", to_json(left_out(shapes, thin)));
  extra.add("whys", whys_of(tape, asked, kWhys));
  extra.add("sources", sources_of(tape));
  const std::string title = escaped(options.lesson + "  " + lesson_info(options.lesson.c_str()).title);
  return filled(report_frame(), {{"title", title},
                                 {"claim", escaped(lesson_info(options.lesson.c_str()).claim)},
                                 {"style", report_style()},
                                 {"script", report_script()},
                                 {"style_hash", policy(report_style_sha256())},
                                 {"script_hash", policy(report_script_sha256())},
                                 {"data", json(thin)},
                                 {"extra", extra.done()}});
}

}  // namespace GLASS_PRECISION
}  // namespace glass
