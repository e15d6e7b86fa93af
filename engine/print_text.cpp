// Numbers, labels and the tape as text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/io/utf8.h"
#include "engine/print.h"

namespace glass {
inline namespace GLASS_PRECISION {

std::string number(double x, int digits) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{:.{}f}", x, digits);
  if (text[0] == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);  // no "-0.0000"
  return text;
}

// An accent that is drawn over the letter before it: U+0300 to U+036F, two bytes.
static bool combining(const std::string& s, std::size_t at) {
  const std::string mark = s.substr(at, 2);
  return mark >= "\xcc\x80" && mark <= "\xcd\xaf" && mark.size() == 2;
}

int display_width(const std::string& s) {
  // fmt pads by display width, so the padding that it did not add is the width (colour codes count nothing)
  std::string plain;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '\x1b') {
      while (i < s.size() && s[i] != 'm') ++i;
    } else if (combining(s, i)) {
      ++i;
    } else {
      plain += s[i];
    }
  }
  const std::size_t room = plain.size() * 2 + 1;  // no character is wider than two columns
  return int(room - (fmt::format("{:<{}}", plain, room).size() - plain.size()));
}

std::string folded(const std::string& text, int width) {
  std::string out;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, to - from);
    const std::string indent(std::min(line.find_first_not_of(' '), line.size()), ' ');
    while (display_width(line) > width) {
      std::size_t at = std::string::npos;
      for (std::size_t i = line.find(' ', indent.size()); i != std::string::npos && display_width(line.substr(0, i)) <= width; i = line.find(' ', i + 1)) at = i;
      if (at == std::string::npos) break;
      out += line.substr(0, at) + "\n";
      line = indent + line.substr(at + 1);
    }
    out += line + (to < text.size() ? "\n" : "");
    from = to + 1;
  }
  return out;
}

std::string clip(const std::string& s, int width, bool ascii) {
  if (display_width(s) <= width) return s;
  const std::string dots = ascii ? "~" : "…";
  std::string kept;
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t n = utf8_length(s, at);
    const std::string next = kept + s.substr(at, n ? n : 1);
    if (display_width(next) > width - 1) break;
    kept = next;
    at += n ? n : 1;
  }
  return kept + dots;
}

std::string to_ascii(const std::string& s) {
  static const std::pair<const char*, const char*> table[] = {
      {"ᵀ", "^T"}, {"√", "sqrt "}, {"Σ", "sum "}, {"∘", "o"}, {"·", "*"}, {"×", "x"}, {"−", "-"},  {"≈", "~"},
      {"→", "->"}, {"←", "<-"},    {"…", "..."},  {"∂", "d"}, {"≤", "<="}, {"≥", ">="}, {"±", "+-"}, {"∞", "inf"},
      {"²", "^2"}, {"³", "^3"},    {"–", "-"},    {"’", "'"}, {"“", "\""}, {"”", "\""}, {"≠", "!="},
      {"φ", "phi"}, {"ε", "eps"},  {"σ", "sigma"}, {"¼", "(1/4)"}, {"‖", "|"}, {"ö", "o"}, {"¶", "$"},
  };
  std::string out;
  for (std::size_t at = 0; at < s.size();) {
    if (static_cast<unsigned char>(s[at]) < 0x80) {
      out += s[at++];
      continue;
    }
    const std::size_t n = utf8_length(s, at);
    const std::string symbol = s.substr(at, n ? n : 1);
    const char* replacement = "?";
    for (const auto& [from, to] : table) {
      if (symbol == from) replacement = to;
    }
    out += replacement;
    at += n ? n : 1;
  }
  return out;
}

static std::string row(const std::string& a, const std::string& b, const std::string& c, const std::string& d,
                       const std::string& e, const std::string& f) {
  std::string line = fmt::format("  {:<4} {:<12} {:<9} {:<9} {:<13} {}", a, b, c, d, e, f);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

static std::string scalar(const Tape& tape, Mat m, const Style& style) {
  if (m.rows != 1 || m.cols != 1 || !m.data) return "";
  const HostView host(tape.be, m);
  return number(double(host(0, 0)), style.digits);
}

std::string tape_table(const Tape& tape, const Style& style) {
  std::string out = row("line", "op", "name", "shape", "from", "value      gradient");
  for (std::size_t id = 0; id < tape.nodes.size(); ++id) {
    const Node& n = tape.nodes[id];
    std::string from;
    for (int i = 0; i < n.n_in; ++i) from += (i ? " %" : "%") + std::to_string(n.in[i]);
    const std::string value = scalar(tape, n.value, style);
    const std::string grad = n.grad.data ? (value.empty() ? "yes" : scalar(tape, n.grad, style)) : n.needs_grad ? "-" : "no";
    out += row("%" + std::to_string(id), n.op, n.name, to_text(n.value.rows, n.value.cols), from,
               fmt::format("{:<10} {}", value, grad));
  }
  return out;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
