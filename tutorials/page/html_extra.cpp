// What a page knows beyond the document of --json: why a gradient is what it is, and the source behind each line of the tape.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "engine/errors.h"
#include "engine/io/json_text.h"
#include "engine/io/text.h"
#include "engine/io/utf8.h"
#include "engine/why.h"
#include "tutorials/page/html.h"

namespace glass {
inline namespace GLASS_PRECISION {

static const long kEntries = 400;    // of a matrix whose gradient is explained
static const long kReaders = 200000;  // entries, times those of the lines that read it: a backward may run for each pair
static const std::size_t kTerms = 12;

static std::string why_of(const Why& why, int r, int c) {
  JsonArray terms;
  const std::size_t shown = std::min(why.terms.size(), kTerms);
  for (std::size_t i = 0; i < shown; ++i) {
    const WhyTerm& t = why.terms[i];
    JsonArray term;
    for (const int x : {t.line, t.row, t.col}) term.add(to_json(x));
    for (const double x : {t.upstream, t.local, t.product}) term.add(to_json(x));
    terms.add(term.done());
  }
  JsonObject out;
  out.add("row", to_json(r)), out.add("column", to_json(c)), out.add("sum", to_json(why.sum));
  out.add("terms", terms.done()), out.add("more", to_json(int(why.terms.size() - shown)));
  return out.done();
}

static long readers(const Tape& tape, int id) {
  long entries = 0;
  for (const Node& n : tape.nodes)
    if (std::find(n.in, n.in + n.n_in, id) != n.in + n.n_in) entries += long(count(n.value.shape()));
  return entries;
}

std::string whys_of(Tape& tape, const std::vector<int>& lines, long most) {
  JsonObject out;
  std::set<int> done;
  for (const int id : lines) {
    const Shape s = tape.nodes[std::size_t(id)].value.shape();
    if (!done.insert(id).second || !tape.nodes[std::size_t(id)].grad.data) continue;
    if (long(count(s)) > std::min(kEntries, most) || long(count(s)) * readers(tape, id) > kReaders) continue;
    JsonArray entries;
    try {
      for (int r = 0; r < s.rows; ++r)
        for (int c = 0; c < s.cols; ++c) entries.add(why_of(why_gradient(tape, id, r, c), r, c));
    } catch (const Error&) {  // a gradient that cannot be taken apart is shown without it
      continue;
    }
    most -= long(count(s));
    out.add(std::to_string(id), entries.done());
  }
  return out.done();
}

static std::vector<std::string> lines_of(const std::string& path) {  // from the root of the project
  std::vector<std::string> lines;
  try {
    std::istringstream text(read_text(std::string(GLASS_SOURCE_DIR) + "/" + path));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  } catch (const InputError&) {  // the program runs where its source is not
  }
  return lines;
}

std::string sources_of(const Tape& tape) {
  std::map<std::string, std::vector<std::string>> files;
  JsonObject out;
  for (std::size_t id = 0; id < tape.nodes.size(); ++id) {
    const Where& where = tape.nodes[id].where;
    const std::string text = to_text(where), path = text.substr(0, text.rfind(':'));  // "tutorials/05_softmax.cpp"
    const auto found = files.find(path);
    const std::vector<std::string>& lines = found != files.end() ? found->second : files.emplace(path, lines_of(path)).first->second;
    if (where.line < 1 || std::size_t(where.line) > lines.size()) continue;
    const std::string& line = lines[std::size_t(where.line) - 1];
    const std::size_t from = line.find_first_not_of(" \t");
    if (from != std::string::npos) out.add(std::to_string(id), to_json(line.substr(from)));
  }
  return out.done();
}

}  // namespace GLASS_PRECISION
}  // namespace glass
