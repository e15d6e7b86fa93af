#include "engine/io/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "engine/errors.h"
#include "engine/io/text.h"

namespace glass {
inline namespace GLASS_PRECISION {

static std::string trimmed(const std::string& s) {
  const std::size_t from = s.find_first_not_of(" \t\r");
  return from == std::string::npos ? "" : s.substr(from, s.find_last_not_of(" \t\r") - from + 1);
}

// One number, the whole field; the C locale, whatever the machine's is.
static Real parse_number(const std::string& field, const std::string& place) {
  if (field.empty()) throw InputError(place + ": an empty field (a comma too many?)");
  const char* begin = field.c_str() + (field[0] == '+' ? 1 : 0);
  const char* end = field.c_str() + field.size();
  double x = 0;
  const auto [stop, error] = std::from_chars(begin, end, x);
  if (error == std::errc::result_out_of_range) throw InputError(place + ": \"" + field + "\" is too large or too small");
  if (error != std::errc() || stop != end) throw InputError(place + ": \"" + field + "\" is not a number");
  if (!std::isfinite(Real(x))) throw InputError(place + ": \"" + field + "\": only finite numbers can be checked");
  return Real(x);
}

Matrix parse_csv(const std::string& text, const std::string& source) {
  std::vector<std::vector<Real>> rows;
  int line = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string content = text.substr(from, to - from);
    from = to + 1;
    ++line;
    if (trimmed(content).empty()) continue;
    std::vector<Real> row;
    for (std::size_t at = 0; at <= content.size();) {
      const std::size_t comma = std::min(content.find(',', at), content.size());
      const std::string place = source + ", line " + std::to_string(line) + ", column " + std::to_string(row.size() + 1);
      row.push_back(parse_number(trimmed(content.substr(at, comma - at)), place));
      at = comma + 1;
    }
    if (!rows.empty() && row.size() != rows[0].size()) {
      throw InputError(source + ", line " + std::to_string(line) + ": " + std::to_string(row.size()) +
                       " numbers, but the first row has " + std::to_string(rows[0].size()) +
                       " (is a decimal comma in it? write 0.5, not 0,5)");
    }
    rows.push_back(row);
  }
  if (rows.empty()) throw InputError(source + ": no numbers in it");
  Matrix m(Shape{int(rows.size()), int(rows[0].size())});
  for (int r = 0; r < m.rows(); ++r)
    for (int c = 0; c < m.cols(); ++c) m(r, c) = rows[std::size_t(r)][std::size_t(c)];
  return m;
}

Matrix read_csv(const std::string& path) { return parse_csv(read_text(path), path); }

std::string to_csv(Mat m) {
  std::string text;
  char number[64];
  for (int r = 0; r < m.rows; ++r) {
    for (int c = 0; c < m.cols; ++c) {
      const auto [end, error] = std::to_chars(number, number + sizeof number, m(r, c));
      text += (c ? "," : "") + std::string(number, end);
    }
    text += "\n";
  }
  return text;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
