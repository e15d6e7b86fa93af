// --json: the whole lesson as one document. docs/json.md says what every key means; they are stable within a schema version.
#include "engine/details.h"
#include "engine/io/json_text.h"
#include "tutorials/page/pack.h"
#include "tutorials/page/page.h"

namespace glass {
inline namespace GLASS_PRECISION {

static std::string keep_of(Keep keep) {
  JsonArray rows;
  for (int r = 0; r < keep.rows; ++r) {
    std::vector<int> row;
    for (int c = 0; c < keep.cols; ++c) row.push_back(keep(r, c));
    rows.add(to_json(row));
  }
  return rows.done();
}

// Masks and whole numbers that lie on a device are null: only matrices have a way back from there.
static std::string details_of(const Tape& tape, const Node& n, const Thin& thin) {
  JsonObject out;
  Details details;
  if (const Detailed* op = dynamic_cast<const Detailed*>(n.rule)) op->details(details);
  for (const Detail& d : details.all) {
    std::string value = "null";
    if (d.kind == Detail::one_number) value = to_json(d.number);
    else if (!tape.be.host_readable()) value = "null";
    else if (d.kind == Detail::keep_mask) value = count({d.keep.rows, d.keep.cols}) <= thin.numbers ? keep_of(d.keep) : "null";
    else value = to_json(std::vector<int>(d.ints.data, d.ints.data + d.ints.n));
    out.add(d.name, value);
  }
  return out.done();
}

static std::string where_of(const Where& where) {
  const std::string text = to_text(where);  // "tutorials/05_softmax.cpp:41"
  JsonObject out;
  out.add("file", to_json(text.substr(0, text.rfind(':'))));
  out.add("line", to_json(where.line));
  return out.done();
}

std::string Page::json_line(int id, const Thin& thin) const {
  const Node& n = tape.nodes[std::size_t(id)];
  const auto found = axes_.find(id);
  const Axes axes = found == axes_.end() ? Axes{} : found->second;
  JsonObject out, view;
  view.add("of", to_json(n.view_of)), view.add("row", to_json(n.view_r)), view.add("column", to_json(n.view_c));
  out.add("line", to_json(id));
  out.add("op", to_json(std::string(n.op)));
  out.add("name", to_json(std::string(n.name)));
  out.add("scope", to_json(std::string(n.scope)));
  out.add("source", where_of(n.where));
  out.add("from", to_json(std::vector<int>(n.in, n.in + n.n_in)));
  out.add("shape", to_json(std::vector<int>{n.value.rows, n.value.cols}));
  out.add("view", n.view_of < 0 ? "null" : view.done());
  out.add("parameter", to_json(n.param != nullptr));
  out.add("changed", to_json(n.changed || (n.param && n.param->version != n.version)));
  out.add("details", details_of(tape, n, thin));
  out.add("rows", to_json(axes.rows));
  out.add("columns", to_json(axes.cols));
  out.add("wants_gradient", to_json(n.needs_grad));
  out.add("value", packed(HostView(tape.be, n.value), thin));
  out.add("gradient", n.grad.data ? packed(HostView(tape.be, n.grad), thin) : "null");
  return out.done();
}

static std::string step_of(const Told& told, const Thin& thin) {
  JsonObject out;
  out.add("part", to_json(told.part)), out.add("number", to_json(told.number)), out.add("name", to_json(told.name));
  out.add("formula", to_json(told.formula)), out.add("note", to_json(told.note));
  out.add("lines", to_json(told.lines)), out.add("gradients", to_json(told.gradients));
  JsonArray matrices, curves;
  for (const ToldMatrix& m : told.matrices) {
    JsonObject one;
    one.add("name", to_json(m.name)), one.add("rows", to_json(m.rows)), one.add("columns", to_json(m.cols));
    one.add("shape", to_json(std::vector<int>{m.values.rows(), m.values.cols()})), one.add("value", packed(m.values, thin));
    matrices.add(one.done());
  }
  for (const ToldSeries& c : told.curves) {
    JsonArray values;
    for (const double x : c.values) values.add(to_json(x));
    JsonObject one;
    one.add("title", to_json(c.title)), one.add("name", to_json(c.name)), one.add("values", values.done());
    curves.add(one.done());
  }
  out.add("matrices", matrices.done()), out.add("curves", curves.done());
  out.add("says", to_json(told.says)), out.add("texts", to_json(told.texts)), out.add("checks", to_json(told.checks));
  return out.done();
}

// Where the sweep began that left the gradients: the last line that it reached.
static std::string root_of(const Tape& tape) {
  for (std::size_t id = tape.nodes.size(); id-- > 0;)
    if (tape.nodes[id].reached && tape.nodes[id].grad.data) return to_json(int(id));
  return "null";
}

std::string Page::json() const { return json(kWhole); }

std::string Page::json(const Thin& thin) const {
  JsonObject doc;
  const LessonInfo& info = lesson_info(options.lesson.c_str());
  doc.add("schema", to_json(2));
  doc.add("program", to_json("glassgrad"));
  doc.add("version", to_json(program_version()));
  doc.add("lesson", to_json(options.lesson));
  doc.add("title", to_json(info.title));
  doc.add("claim", to_json(info.claim));
  doc.add("variant", to_json(options.variant));
  doc.add("command", to_json(options.command));
  doc.add("seed", std::to_string(options.seed));
  doc.add("precision", sizeof(Real) == 8 ? "\"f64\"" : "\"f32\"");
  doc.add("backend", to_json(std::string(tape.be.name())));
  doc.add("words", to_json(words_));
  doc.add("root", root_of(tape));
  bool ok = true;
  JsonArray checks, steps, lines;
  for (const Verdict& v : verdicts_) {
    JsonObject one;
    one.add("claim", to_json(v.claim)), one.add("line", v.line < 0 ? "null" : to_json(v.line));
    one.add("ok", v.judged ? to_json(v.ok) : "null"), one.add("verdict", to_json(v.text));
    checks.add("\n" + one.done());
    ok = ok && v.ok;
  }
  for (const Told& told : told_) steps.add("\n" + step_of(told, thin));
  for (std::size_t id = 0; id < tape.nodes.size(); ++id) lines.add("\n" + json_line(int(id), thin));
  doc.add("ok", to_json(ok));
  doc.add("checks", checks.done());
  doc.add("steps", steps.done());
  doc.add("tape", lines.done());
  return doc.done() + "\n";
}

// Shown now, in the step that has begun; before the first one in a step without a name.
Told& Page::told() {
  if (told_.empty()) told_.emplace_back();
  return told_.back();
}

}  // namespace GLASS_PRECISION
}  // namespace glass
