#include "engine/entry.h"

#include <charconv>

#include "engine/io/nearest.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Reads a whole number that starts at text[at], and moves `at` behind it; false if there is none, or if it does not fit.
static bool number_at(const std::string& text, std::size_t& at, int& value) {
  const char* from = text.data() + at;
  const auto [end, error] = std::from_chars(from, text.data() + text.size(), value);
  at += std::size_t(end - from);
  return error == std::errc() && value >= 0;
}

static void skip_blanks(const std::string& text, std::size_t& at) {
  while (at < text.size() && text[at] == ' ') ++at;
}

// "[1,2]" at the end of the text.
static bool place_at(const std::string& text, std::size_t at, Entry& e) {
  skip_blanks(text, ++at);
  if (!number_at(text, at, e.row)) return false;
  skip_blanks(text, at);
  if (at >= text.size() || text[at] != ',') return false;
  skip_blanks(text, ++at);
  if (!number_at(text, at, e.col)) return false;
  skip_blanks(text, at);
  return at + 1 == text.size() && text[at] == ']';
}

static int last_called(const Tape& tape, const std::string& name, bool with_gradient) {
  int id = int(tape.nodes.size()) - 1;
  while (id >= 0 && (name != line_name(tape, id) || (with_gradient && !tape.nodes[std::size_t(id)].grad.data))) --id;
  return id;
}

static int line_called(const Tape& tape, const std::string& name, bool with_gradient) {
  int id = -1;
  std::size_t at = 1;
  if (name[0] == '%') return number_at(name, at, id) && at == name.size() && id < int(tape.nodes.size()) ? id : -1;
  id = with_gradient ? last_called(tape, name, true) : -1;
  return id >= 0 ? id : last_called(tape, name, false);
}

static std::string no_line(const Tape& tape, const std::string& what, const std::string& name) {
  const std::string last = std::to_string(int(tape.nodes.size()) - 1);
  if (name.find('%') <= 1) return "\"" + what + "\": the tape has no line " + name.substr(name.find('%')) + (tape.nodes.empty() ? ": it is empty" : "; its last is %" + last);
  std::vector<std::string> known;
  for (const Node& n : tape.nodes)
    if (*n.name) known.push_back(n.name);
  const std::size_t values = known.size();
  for (std::size_t i = 0; i < values; ++i) known.push_back("d" + known[i]);
  const std::string best = nearest(name, known);
  if (tape.nodes.empty()) return "\"" + what + "\": the tape is empty";
  return "\"" + what + "\": no line of the tape is called " + name + (best.empty() ? "; a line without a name is %NUMBER, up to %" + last : ", did you mean " + best + "?");
}

Entry find_entry(const Tape& tape, const std::string& what) {
  const std::size_t bracket = what.rfind('[');
  const std::string name = what.substr(0, bracket);
  Entry e;
  if (name.empty() || (bracket != std::string::npos && !place_at(what, bracket, e))) {
    throw InputError("\"" + what + "\" is not an entry: write a line, a row and a column, for example dW_q[1,2], A[0,3] or %7[0,1]");
  }
  e.line = line_called(tape, name, false);
  if (e.line < 0 && name[0] == 'd' && name.size() > 1) {
    e.line = line_called(tape, name.substr(1), true);
    e.gradient = true;
  }
  if (e.line < 0) throw InputError(no_line(tape, what, name));
  const Mat m = tape.nodes[std::size_t(e.line)].value;
  const std::string size = name + " is " + to_text(m.rows, m.cols);
  if (bracket == std::string::npos && m.shape() != Shape{1, 1}) {
    throw InputError("\"" + what + "\": " + size + "; say which entry, for example " + name + "[0,0]");
  }
  if (e.row >= m.rows || e.col >= m.cols) {
    throw InputError("\"" + what + "\": " + size + "; rows and columns are counted from 0");
  }
  return e;
}

std::string line_name(const Tape& tape, int line) {
  const char* name = tape.nodes[std::size_t(line)].name;
  return *name ? name : "%" + std::to_string(line);
}

std::string entry_name(const Tape& tape, const Entry& e) {
  const std::string name = (e.gradient ? "d" : "") + line_name(tape, e.line);
  return tape.nodes[std::size_t(e.line)].value.shape() == Shape{1, 1} ? name : name + entry_text(e.row, e.col);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
