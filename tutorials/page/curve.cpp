// Curves in a terminal, and the progress line.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tutorials/page/page.h"
#include "tutorials/page/terminal.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr int kRows = 12, kCols = 64;

// The mean of the part of the values that falls into column c.
static double column(const std::vector<double>& values, int c) {
  const std::size_t n = values.size(), from = n * std::size_t(c) / kCols;
  const std::size_t to = std::max(from + 1, n * std::size_t(c + 1) / kCols);
  double sum = 0;
  for (std::size_t i = from; i < std::min(to, n); ++i) sum += values[i];
  return sum / double(std::min(to, n) - from);
}

void Page::curve(const std::string& title, const std::vector<Series>& all, bool rough) {
  begin();
  for (const Series& s : all) told().curves.push_back({title, s.name, s.values});
  const char* const marks = "*o+x";
  double top = 0;
  std::size_t longest = 0;
  for (const Series& s : all) {
    longest = std::max(longest, s.values.size());
    for (int c = 0; c < kCols && !s.values.empty(); ++c) top = std::max(top, column(s.values, c));
  }
  std::vector<std::string> canvas(kRows, std::string(kCols, ' '));
  std::string legend;
  for (std::size_t k = 0; k < all.size(); ++k) {
    legend += fmt::format("   {} {}", marks[k % 4], all[k].name);
    for (int c = 0; c < kCols && !all[k].values.empty() && top > 0; ++c) {
      const int r = std::clamp(int(column(all[k].values, c) / top * kRows), 0, kRows - 1);
      canvas[std::size_t(kRows - 1 - r)][std::size_t(c)] = marks[k % 4];
    }
  }
  std::string text = fmt::format("   {}{}\n", title, legend);
  for (int r = 0; r < kRows; ++r) {
    const bool label = r == 0 || r == kRows / 2;
    std::string line = fmt::format("{} {:>7} |{}", rough ? '~' : ' ', label ? number(top * (kRows - r) / kRows, 2) : "", canvas[std::size_t(r)]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  text += fmt::format("  {:>7} +{}\n  {:>7}  {:<{}}{}\n", "0", std::string(kCols, '-'), "", "1", kCols - int(std::to_string(longest).size()), longest);
  put(spelled(text));
}

void Page::progress(const std::string& what, long step, long of) const {
  if (step == of) return progress("");
  if (step % std::max(1L, of / 50) == 0) progress(fmt::format("{}: step {} of {}", what, step, of));
}

void Page::progress(const std::string& text) const {
  if (is_terminal(2)) std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
}

}  // namespace GLASS_PRECISION
}  // namespace glass
