#include "engine/io/utf8.h"

namespace glass {

std::size_t utf8_length(const std::string& s, std::size_t at) {
  if (at >= s.size()) return 0;
  const unsigned char first = static_cast<unsigned char>(s[at]);
  if (first < 0x80) return 1;
  const std::size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + n > s.size()) return 0;
  unsigned code = first & (0x7fu >> n);
  for (std::size_t i = 1; i < n; ++i) {
    const unsigned char c = static_cast<unsigned char>(s[at + i]);
    if ((c & 0xc0) != 0x80) return 0;
    code = code << 6 | (c & 0x3f);
  }
  const unsigned smallest = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < smallest || code > 0x10ffff || surrogate ? 0 : n;
}

std::size_t utf8_error(const std::string& s) {
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t n = utf8_length(s, at);
    if (n == 0) return at;
    at += n;
  }
  return std::string::npos;
}

}  // namespace glass
