// Figures: matrices side by side, cut to the width. Numbers and text as such are in print_text.cpp.
#include "engine/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr long kSummarise = 1000;  // entries; more are shown by their edges, as NumPy does
static constexpr int kEdge = 3;
static const std::string kGap = "  ";  // between two blocks

static std::vector<int> shown(int n, bool edges) {  // the indices to print; -1 is an ellipsis
  std::vector<int> all;
  for (int i = 0; i < n; ++i) {
    if (!edges || n <= 2 * kEdge + 1 || i < kEdge || i >= n - kEdge) all.push_back(i);
    else if (i == kEdge) all.push_back(-1);
  }
  return all;
}

static std::string label_at(const std::vector<std::string>& labels, int i) {
  return i < int(labels.size()) ? labels[std::size_t(i)] : std::to_string(i);
}

// A shade for x: blue for positive, orange for negative (safe for red-green deficiency), by |x| / largest.
static std::string shaded(const std::string& cell, double x, double largest) {
  static const int blue[] = {195, 153, 117, 111}, orange[] = {230, 223, 216, 209};
  if (!std::isfinite(x) || !(largest > 0)) return cell;
  const int level = std::min(4, int(std::fabs(x) / largest * 4.999));
  if (level == 0) return cell;
  return fmt::format("\x1b[48;5;{}m\x1b[38;5;16m{}\x1b[0m", (x > 0 ? blue : orange)[level - 1], cell);
}

namespace {
struct Lines {  // a block as text: every line padded to the same width; `plain` measures, `text` may hold colour
  std::vector<std::string> text;
  int width = 0;
};

struct Layout {  // of one block, or of one band of its columns
  const Block& b;
  const Style& style;
  std::vector<int> rows, cols;
  bool sci;
  int cell = 0;  // width of a column, without the gap before it
  double largest = 0;

  std::string text(int r, int c) const {
    if (r < 0 || c < 0) return style.ascii ? "..." : "…";
    if (!b.hidden.empty() && b.hidden[std::size_t(r) * std::size_t(b.values.cols) + std::size_t(c)]) return style.ascii ? "." : "·";
    const double x = double(b.values(r, c));
    return sci && std::isfinite(x) && x != 0 ? fmt::format("{:.{}e}", x, std::max(0, style.digits - 2)) : number(x, style.digits);
  }
};
}  // namespace

// Plain decimals, unless they would run out of space or show nothing but zeros.
static bool scientific(Mat m, int digits) {
  double largest = 0;
  for (int r = 0; r < m.rows; ++r)
    for (int c = 0; c < m.cols; ++c)
      if (std::isfinite(m(r, c))) largest = std::max(largest, std::fabs(double(m(r, c))));
  return largest >= 1e6 || (largest > 0 && largest < 10 * std::pow(10.0, -digits));
}

static Layout plan(const Block& b, const Style& style) {
  const bool edges = long(b.values.rows) * b.values.cols > kSummarise;
  Layout l{b, style, shown(b.values.rows, edges), shown(b.values.cols, edges), scientific(b.values, style.digits)};
  l.cell = style.digits + 3;  // sign, one digit, point, decimals
  for (double x : b.extra) l.cell = std::max(l.cell, display_width(number(x, style.digits)));
  for (int r : l.rows) {
    for (int c : l.cols) {
      l.cell = std::max(l.cell, display_width(l.text(r, c)));
      if (r >= 0 && c >= 0 && std::isfinite(b.values(r, c))) l.largest = std::max(l.largest, std::fabs(double(b.values(r, c))));
    }
  }
  return l;
}

static std::string right(const std::string& s, int width) {
  return std::string(std::size_t(std::max(0, width - display_width(s))), ' ') + s;
}

static void pad(Lines& lines) {
  for (const std::string& t : lines.text) lines.width = std::max(lines.width, display_width(t));
  for (std::string& t : lines.text) t += std::string(std::size_t(lines.width - display_width(t)), ' ');
}

// Title, column labels, rows, footer. Row labels are drawn by figure().
static Lines draw(const Layout& l, const std::vector<int>& cols, bool last_band) {
  const Block& b = l.b;
  Lines out;
  out.text.push_back(b.title + (l.sci ? "  (scientific)" : ""));
  std::string head;
  for (int c : cols) head += " " + right(c < 0 ? "" : clip(label_at(b.cols, c), l.cell, l.style.ascii), l.cell);
  const bool extra = last_band && !b.extra.empty();
  if (extra) head += " | " + right(b.extra_title, l.cell);
  out.text.push_back(head);
  for (int r : l.rows) {
    std::string line;
    for (int c : cols) {
      const std::string cell = right(l.text(r, c), l.cell);
      line += " " + (l.style.color && r >= 0 && c >= 0 ? shaded(cell, double(b.values(r, c)), l.largest) : cell);
    }
    if (extra) line += " | " + (r < 0 ? right("", l.cell) : right(number(b.extra[std::size_t(r)], l.style.digits), l.cell));
    out.text.push_back(line);
  }
  for (const std::string& f : b.footer) out.text.push_back(f);
  pad(out);
  return out;
}

static Lines row_labels(const Layout& l) {
  Lines out;
  out.text = {"", ""};
  for (int r : l.rows) out.text.push_back(r < 0 ? "" : " " + clip(label_at(l.b.rows, r), 12, l.style.ascii));
  pad(out);
  return out;
}

static std::string beside(const std::vector<Lines>& parts) {
  std::size_t height = 0;
  for (const Lines& p : parts) height = std::max(height, p.text.size());
  std::string out;
  for (std::size_t i = 0; i < height; ++i) {
    std::string line;
    for (const Lines& p : parts) {
      const bool first = &p == &parts[0];
      line += (first || &p == &parts[1] ? "" : kGap) + (i < p.text.size() ? p.text[i] : std::string(std::size_t(p.width), ' '));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

static std::string alone(const Block& b, const Style& style) {
  const Layout l = plan(b, style);
  const Lines labels = row_labels(l);
  const int room = style.width - labels.width - (b.extra.empty() ? 0 : l.cell + 3);
  const std::size_t per_band = std::size_t(std::max(1, room / (l.cell + 1)));
  std::string out;
  for (std::size_t from = 0; from == 0 || from < l.cols.size(); from += per_band) {
    const std::size_t to = std::min(l.cols.size(), from + per_band);
    const std::vector<int> band(l.cols.begin() + std::ptrdiff_t(from), l.cols.begin() + std::ptrdiff_t(to));
    out += beside({labels, draw(l, band, to == l.cols.size())});
  }
  return out;
}

static bool same_rows(const Block& a, const Block& b) { return a.values.rows == b.values.rows && a.rows == b.rows; }

std::string figure(const std::vector<Block>& blocks, const Style& style) {
  for (std::size_t i = 1; i < blocks.size(); ++i) {  // row labels are drawn once, for all
    if (same_rows(blocks[0], blocks[i])) continue;
    const auto middle = blocks.begin() + std::ptrdiff_t(i);
    return figure({blocks.begin(), middle}, style) + figure({middle, blocks.end()}, style);
  }
  std::vector<Lines> parts;
  int width = 0;
  for (const Block& b : blocks) {
    const Layout l = plan(b, style);
    if (parts.empty()) parts.push_back(row_labels(l));
    parts.push_back(draw(l, l.cols, true));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) width += parts[i].width + (i >= 2 ? int(kGap.size()) : 0);
  if (width <= style.width) return beside(parts);
  if (blocks.size() == 1) return alone(blocks[0], style);
  // the first as many as fit, then the rest
  for (std::size_t n = blocks.size() - 1; n >= 1; --n) {
    width = 0;
    for (std::size_t i = 0; i <= n; ++i) width += parts[i].width + (i >= 2 ? int(kGap.size()) : 0);
    if (width > style.width && n > 1) continue;
    const auto middle = blocks.begin() + std::ptrdiff_t(n);
    return figure({blocks.begin(), middle}, style) + figure({middle, blocks.end()}, style);
  }
  return "";
}

}  // namespace GLASS_PRECISION
}  // namespace glass
