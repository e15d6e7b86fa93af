// A text to learn from, and excerpts of what was learned.
#include <fmt/format.h>

#include <algorithm>

#include "engine/io/text.h"
#include "engine/io/utf8.h"
#include "tutorials/page/page.h"
#include "tutorials/page/terminal.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::string Page::text_to_learn(const char* fallback) const {
  if (!options.file.empty()) return read_text(options.file);
  try {
    return read_text(fallback);
  } catch (const InputError& e) {
    throw InputError(std::string(e.what()) + "\n  It is the text that this lesson learns from. Name another one:  --file FILE");
  }
}

void Page::roughly(const std::string& text) {
  begin();
  const std::string line = "   ~ " + text;
  put_told(spelled(line.substr(0, line.find_last_not_of(' ') + 1) + "\n"));
}

void Page::excerpt(const std::string& label, const std::string& text, int lines) {
  std::vector<std::string> shown(std::size_t(lines), "");
  const int width = options.width - 20;
  int place = 0;
  for (std::size_t at = 0, n; at < text.size() && place < lines * width; at += n, ++place) {
    n = std::max<std::size_t>(utf8_length(text, at), 1);
    shown[std::size_t(place / width)] += text[at] == '\n' ? "¶" : printable(text.substr(at, n));
  }
  for (int i = 0; i < lines; ++i) roughly(fmt::format("{:<12}|{}", i ? "" : label, shown[std::size_t(i)]));
}

}  // namespace GLASS_PRECISION
}  // namespace glass
