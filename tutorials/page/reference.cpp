// On a device a gradient is compared with the CPU's: --reference FILE is the --json of the same lesson, run in double on the CPU.
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/io/text.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr double kAgree = 1e-4;  // of 1 + the largest entry

static const nlohmann::json& reference(const std::string& file) {
  static const nlohmann::json doc = nlohmann::json::parse(read_text(file), nullptr, false);
  if (doc.is_discarded() || !doc.contains("tape")) throw InputError("--reference: " + file + " is not what --json writes");
  return doc;
}

static double number_of(const nlohmann::json& x) {  // JSON has no inf and nan
  if (x.is_number()) return x.get<double>();
  const std::string text = x.is_string() ? x.get<std::string>() : "nan";
  return text == "inf" ? HUGE_VAL : text == "-inf" ? -HUGE_VAL : std::nan("");
}

static double size_of(const nlohmann::json& rows) {
  double largest = 0;
  for (const auto& row : rows)
    for (const auto& x : row) largest = std::max(largest, std::fabs(number_of(x)));
  return 1 + largest;
}

std::string Page::verdict_by_reference(Var v) {
  const nlohmann::json& tape_there = reference(options.reference)["tape"];
  const Node& n = tape.node(v);
  std::string text = below(kAgree);
  const nlohmann::json* rows = nullptr;
  for (const nlohmann::json& line : tape_there) {
    if (line.value("line", -1) == v.id && line.value("op", "") == n.op) rows = &line["gradient"];
  }
  const HostView here(tape.be, n.grad);
  bool ok = rows && int(rows->size()) == n.grad.rows;
  if (!ok) text = fmt::format("WRONG: line %{} of {} is another or has no such gradient", v.id, options.reference);
  const double size = ok ? size_of(*rows) : 1;
  for (int r = 0; ok && r < n.grad.rows; ++r) {
    for (int c = 0; ok && c < n.grad.cols; ++c) {
      const double there = number_of((*rows)[std::size_t(r)].at(std::size_t(c)));
      ok = std::fabs(double(here(r, c)) - there) / size < kAgree;
      if (!ok) text = fmt::format("WRONG at {}: {} here, {} there", entry_text(r, c), to_text(double(here(r, c))), to_text(there));
    }
  }
  verdicts_.push_back({"d" + name_of(v) + " = the CPU's in double", text, ok, v.id});
  return text;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
