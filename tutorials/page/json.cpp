// --json: the whole lesson as one document. Numbers have full precision; keys are stable within a schema version.
#include <nlohmann/json.hpp>

#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

using nlohmann::ordered_json;

static ordered_json rows_of(Mat m) {
  ordered_json rows = ordered_json::array();
  for (int r = 0; r < m.rows; ++r) {
    ordered_json row = ordered_json::array();
    for (int c = 0; c < m.cols; ++c) row.push_back(double(m(r, c)));  // inf and nan become null: JSON has no others
    rows.push_back(row);
  }
  return rows;
}

std::string Page::json() const {
  ordered_json doc;
  doc["schema"] = 1;
  doc["program"] = "glassgrad";
  doc["lesson"] = options.lesson;
  doc["title"] = lesson_info(options.lesson.c_str()).title;
  doc["command"] = options.command;
  doc["seed"] = options.seed;
  doc["words"] = words_;
  doc["root"] = root_.id;
  for (std::size_t id = 0; id < tape.nodes.size(); ++id) {
    const Node& n = tape.nodes[id];
    ordered_json line;
    line["line"] = id;
    line["op"] = n.op;
    line["name"] = n.name;
    line["from"] = std::vector<int>(n.in, n.in + n.n_in);
    line["shape"] = {n.value.rows, n.value.cols};
    line["source"] = to_text(n.where);
    line["value"] = rows_of(n.value);
    line["gradient"] = n.grad.data ? rows_of(n.grad) : ordered_json();
    doc["tape"].push_back(line);
  }
  bool ok = true;
  doc["checks"] = ordered_json::array();
  for (const Verdict& v : verdicts_) {
    doc["checks"].push_back({{"claim", v.claim}, {"ok", v.ok}, {"verdict", v.text}});
    ok = ok && v.ok;
  }
  doc["ok"] = ok;
  return doc.dump() + "\n";
}

}  // namespace GLASS_PRECISION
}  // namespace glass
