#include "engine/io/json_text.h"

#include <charconv>
#include <cmath>
#include <cstdio>

namespace glass {

std::string to_json(const std::string& text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    // U+2028 and U+2029 end a line in JavaScript, though not in JSON
    const bool line_end = c == 0xe2 && (text.compare(i, 3, "\xe2\x80\xa8") == 0 || text.compare(i, 3, "\xe2\x80\xa9") == 0);
    if (line_end) {
      out += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else if (c == '"' || c == '\\') {
      out += std::string("\\") + text[i];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", unsigned(c));
      out += code;
    } else {
      out += text[i];
    }
  }
  return out + "\"";
}

template <class T>
static std::string shortest(T x) {
  if (std::isnan(x)) return "\"nan\"";
  if (std::isinf(x)) return x < 0 ? "\"-inf\"" : "\"inf\"";
  if (x == 0) return std::signbit(x) ? "-0.0" : "0";  // "-0" would be read as a whole number, which has no sign
  char text[64];
  return {text, std::to_chars(text, text + sizeof text, x).ptr};
}

std::string to_json(const char* text) { return to_json(std::string(text)); }
std::string to_json(double x) { return shortest(x); }
std::string to_json(float x) { return shortest(x); }
std::string to_json(int x) { return std::to_string(x); }
std::string to_json(bool x) { return x ? "true" : "false"; }

std::string to_json(const std::vector<int>& all) {
  JsonArray out;
  for (const int x : all) out.add(to_json(x));
  return out.done();
}

std::string to_json(const std::vector<std::string>& all) {
  JsonArray out;
  for (const std::string& s : all) out.add(to_json(s));
  return out.done();
}

}  // namespace glass
