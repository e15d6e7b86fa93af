#include "tutorials/page/heat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/io/utf8.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const char* const kBlocks[] = {" ", "░", "▒", "▓", "█"};
static const char* const kBars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const std::string kAsciiShades = " .:-=+*#%@", kAsciiBars = "_.-=+*#@";
static constexpr int kBlue[] = {195, 153, 117, 75, 69, 33, 26}, kOrange[] = {230, 223, 216, 209, 208, 202, 166};
static constexpr int kTallest = 10;    // characters of an upright label
static constexpr int kMostRows = 64;

static int levels(const Style& style) { return style.color ? 7 : style.ascii ? int(kAsciiShades.size()) - 1 : 4; }

// One cell. size: |x| / top of the scale, from 0 to 1.
static std::string cell(double size, char sign, const Style& style) {
  const int level = int(std::lround(size * levels(style)));
  if (style.color) {
    const std::string text = {sign == '-' ? '-' : ' ', ' '};
    return level == 0 ? text : fmt::format("\x1b[48;5;{}m\x1b[38;5;16m{}\x1b[0m", (sign == '-' ? kOrange : kBlue)[level - 1], text);
  }
  const std::string shade = style.ascii ? std::string(1, kAsciiShades[std::size_t(level)]) : kBlocks[level];
  return (sign && level > 0 ? std::string(1, sign) : shade) + shade;
}

namespace {
struct Pooled {  // what is drawn: the entries, or the means of blocks of `by` rows and columns
  std::vector<std::vector<double>> x;
  std::vector<std::vector<bool>> hidden;
  int by = 1;
};
}  // namespace

static Pooled pooled(const HeatMap& m, int room) {
  Pooled p;
  while ((m.values.cols + p.by - 1) / p.by > room || (m.values.rows + p.by - 1) / p.by > kMostRows) ++p.by;
  for (int r0 = 0; r0 < m.values.rows; r0 += p.by) {
    p.x.emplace_back(), p.hidden.emplace_back();
    for (int c0 = 0; c0 < m.values.cols; c0 += p.by) {
      double sum = 0;
      int seen = 0;
      for (int r = r0; r < std::min(m.values.rows, r0 + p.by); ++r) {
        for (int c = c0; c < std::min(m.values.cols, c0 + p.by); ++c) {
          const double x = double(m.values(r, c));
          const bool hidden = !m.hidden.empty() && m.hidden[std::size_t(r) * std::size_t(m.values.cols) + std::size_t(c)];
          if (hidden || (std::isinf(x) && x < 0)) continue;
          sum += x, ++seen;
        }
      }
      p.x.back().push_back(seen ? sum / seen : 0);
      p.hidden.back().push_back(!seen);
    }
  }
  return p;
}

static std::vector<std::string> letters(const std::string& label, bool ascii) {  // drawn characters, with what is drawn over them
  std::vector<std::string> out;
  const std::string text = clip(label, kTallest, ascii);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t n = std::max<std::size_t>(1, utf8_length(text, at));
    const std::string one = text.substr(at, n);
    if (display_width(one) == 0 && !out.empty()) out.back() += one;
    else out.push_back(one);
    at += n;
  }
  return out;
}

static std::string label_at(const std::vector<std::string>& labels, int i) {
  return i < int(labels.size()) ? labels[std::size_t(i)] : std::to_string(i);
}

static std::string padded(const std::string& text, int width) {
  return text + std::string(std::size_t(std::max(0, width - display_width(text))), ' ');
}

static std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// Upright, standing on the matrix: "cat" above column 1 is c, a, t in three lines.
static std::string upright(const HeatMap& m, const Pooled& p, int indent, const Style& style) {
  std::vector<std::vector<std::string>> labels;
  std::size_t tallest = 0;
  for (std::size_t c = 0; !p.x.empty() && c < p.x[0].size(); ++c) {
    labels.push_back(letters(label_at(m.cols, int(c) * p.by), style.ascii));
    tallest = std::max(tallest, labels.back().size());
  }
  std::string out;
  for (std::size_t k = 0; k < tallest; ++k) {
    std::string line(std::size_t(indent), ' ');
    for (const auto& label : labels) {
      const std::size_t above = tallest - label.size();
      line += padded(k < above ? "" : label[k - above], 2);
    }
    out += trimmed(line);
  }
  return out;
}

static std::string legend(double top, bool weights, bool any_hidden, const Style& style) {
  std::string line = "   ";
  if (!weights) {
    line += number(-top, style.digits) + " ";
    for (int k = levels(style); k >= 1; --k) line += cell(double(k) / levels(style), '-', style);
  } else {
    line += "0";
  }
  line += weights ? " " : " 0 ";
  for (int k = 1; k <= levels(style); ++k) line += cell(double(k) / levels(style), weights ? '\0' : '+', style);
  line += " " + (weights ? std::string("1") : number(top, style.digits));
  return line + (any_hidden ? std::string("   ") + (style.ascii ? "//" : "╱╱") + " hidden" : "") + "\n";
}

std::string heat_map(const HeatMap& m, const Style& style) {
  int indent = 0;
  for (int r = 0; r < m.values.rows; ++r) indent = std::max(indent, display_width(clip(label_at(m.rows, r), 12, style.ascii)) + 2);
  const int beside = 12 + style.digits + 14;  // a bar for each column, if they are few; the largest entry and its label
  const Pooled p = pooled(m, std::max(4, (style.width - indent - beside) / 3));
  double top = 0;
  for (const auto& row : p.x)
    for (const double x : row) top = std::isfinite(x) ? std::max(top, std::fabs(x)) : top;
  if (m.weights) top = 1;
  std::string out = m.title + "\n" + (p.by > 1 ? fmt::format("   each cell the mean of {} x {} entries\n", p.by, p.by) : "");
  out += upright(m, p, indent, style);
  bool any_hidden = false;
  for (std::size_t r = 0; r < p.x.size(); ++r) {
    std::string line = padded(" " + clip(label_at(m.rows, int(r) * p.by), 12, style.ascii), indent);
    std::vector<double> seen;
    std::size_t best = p.x[r].size();
    for (std::size_t c = 0; c < p.x[r].size(); ++c) {
      const double x = p.x[r][c];
      if (p.hidden[r][c]) {
        line += style.ascii ? "//" : "╱╱";
        any_hidden = true;
        continue;
      }
      line += !std::isfinite(x) ? "!!" : cell(top > 0 ? std::min(1.0, std::fabs(x) / top) : 0, m.weights ? '\0' : x < 0 ? '-' : '+', style);
      seen.push_back(x);
      if (std::isfinite(x) && (best == p.x[r].size() || std::fabs(x) > std::fabs(p.x[r][best]))) best = c;
    }
    line += "  " + padded(sparkline(seen, int(p.x[r].size()), style), int(p.x[r].size()));
    if (best < p.x[r].size()) line += "  " + number(p.x[r][best], style.digits) + " " + clip(label_at(m.cols, int(best) * p.by), 12, style.ascii);
    out += trimmed(line);
  }
  return out + legend(top, m.weights, any_hidden, style);
}

std::string sparkline(const std::vector<double>& values, int most, const Style& style) {
  const std::size_t n = values.size(), width = std::min(n, std::size_t(std::max(1, most)));
  std::vector<double> mean;
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (std::size_t k = 0; k < width; ++k) {
    const std::size_t from = n * k / width, to = n * (k + 1) / width;
    double sum = 0;
    for (std::size_t i = from; i < to; ++i) sum += values[i];
    mean.push_back(sum / double(to - from));
    if (std::isfinite(mean.back())) low = std::min(low, mean.back()), high = std::max(high, mean.back());
  }
  std::string out;
  for (const double x : mean) {
    const std::size_t level = high > low && std::isfinite(x) ? std::size_t(std::lround((x - low) / (high - low) * 7)) : 0;
    out += !std::isfinite(x) ? "!" : style.ascii ? std::string(1, kAsciiBars[level]) : kBars[level];
  }
  return out;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
