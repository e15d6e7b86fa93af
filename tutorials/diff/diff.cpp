// tutorials/run diff A B: two forms on one input. Where do they part, and by how much?
//
// Each form records its lines on a tape of its own, from the same words and the same weights. Lines of the same name are
// held against each other, in the order of the way forward; then the gradients, in the order of the way back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "tutorials/diff/forms.h"
#include "tutorials/page/page.h"
#include "tutorials/page/terminal.h"
using namespace glass;

namespace {
// One line of the comparison.
struct Row {
  std::string step, a, b;  // the line's name; its shape in either form, "-" where it is missing
  double apart = 0;        // the largest |difference|
  int row = 0, col = 0;
  double left = 0, right = 0;
  bool both = false;
};
}  // namespace

static std::string key(const Node& n) { return (*n.scope ? std::string(n.scope) + " " : "") + n.name; }

static std::string gradient_key(const Node& n) { return (*n.scope ? std::string(n.scope) + " d" : "d") + n.name; }

static std::string shape_text(Mat m) { return m.data ? std::to_string(m.rows) + " x " + std::to_string(m.cols) : "-"; }

static Row compare(const std::string& step, Mat a, Mat b) {
  Row r{step, shape_text(a), shape_text(b)};
  if (!a.data || !b.data || a.shape() != b.shape()) return r;
  r.both = true;
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) {
      const double x = double(a(i, j)), y = double(b(i, j));
      const double gap = x == y ? 0 : std::isfinite(x) && std::isfinite(y) ? std::fabs(x - y) : INFINITY;
      if (gap > r.apart) r.apart = gap, r.row = i, r.col = j, r.left = x, r.right = y;
    }
  }
  return r;
}

// The last line of that key, or nullptr. (A name that comes again, as "Y" of a head, has a scope of its own.)
static const Node* find(const Tape& tape, const std::string& wanted) {
  for (std::size_t id = tape.nodes.size(); id-- > 0;)
    if (key(tape.nodes[id]) == wanted) return &tape.nodes[id];
  return nullptr;
}

// In the order of the form with more steps; what only the other has comes at the end.
static std::vector<std::string> keys_of(const Tape& one, const Tape& two) {
  std::vector<std::string> keys;
  const bool two_first = two.nodes.size() > one.nodes.size();
  for (const Tape* t : {two_first ? &two : &one, two_first ? &one : &two}) {
    for (const Node& n : t->nodes) {
      if (*n.name && std::strcmp(n.op, "param") && std::find(keys.begin(), keys.end(), key(n)) == keys.end()) keys.push_back(key(n));
    }
  }
  return keys;
}

static std::vector<Row> values(const Form& a, const Form& b) {
  std::vector<Row> rows;
  for (const std::string& k : keys_of(a.tape, b.tape)) {
    const Node *x = find(a.tape, k), *y = find(b.tape, k);
    rows.push_back(compare(k, x ? x->value : Mat{}, y ? y->value : Mat{}));
  }
  return rows;
}

static std::vector<Row> gradients(const Form& a, const Form& b) {
  std::vector<Row> rows;
  std::vector<std::string> keys = keys_of(a.tape, b.tape);
  for (std::size_t i = keys.size(); i-- > 0;) {
    const Node *x = find(a.tape, keys[i]), *y = find(b.tape, keys[i]);
    const Mat dx = x ? x->grad : Mat{}, dy = y ? y->grad : Mat{};
    if (dx.data || dy.data) rows.push_back(compare(gradient_key(x ? *x : *y), dx, dy));
  }
  for (const Param& p : a.params.all)
    for (const Param& q : b.params.all)
      if (p.name == q.name) rows.push_back(compare("d" + p.name, p.grad, q.grad));
  return rows;
}

static const double kSame = 1e-9;

// Prints the rows; returns the first that parts, or nullptr.
static const Row* tell(Page& page, const std::vector<Row>& rows) {
  const Row* first = nullptr;
  std::string text = fmt::format("   {:<22}{:<10}{:<10}{:<14}{}\n", "step", "A", "B", "largest gap", "at  (A, B)");
  for (const Row& r : rows) {
    if (!r.both) {
      text += fmt::format("   {:<22}{:<10}{:<10}{}\n", r.step, r.a, r.b, r.a == "-" || r.b == "-" ? "only in one" : "other shapes");
    } else if (r.apart <= kSame) {
      text += fmt::format("   {:<22}{:<10}{:<10}same\n", r.step, r.a, r.b);
    } else {
      text += fmt::format("   {:<22}{:<10}{:<10}{:<14.4g}{},{}  ({:.4g}, {:.4g}){}\n", r.step, r.a, r.b, r.apart, r.row, r.col, r.left, r.right,
                          first ? "" : "   <- here they part");
      if (!first) first = &r;
    }
  }
  page.table(text);
  return first;
}

static bool gradients_hold(Form& form, Mat dY) {
  bool ok = gradient_gap(form.tape, form.Y, dY, form.X).ok();
  for (const Param& p : form.params.all)
    if (p.grad.rows() > 0) ok = ok && gradient_gap(form.tape, form.Y, dY, form.tape.find(p.name.c_str()), 100).ok();
  return ok;
}

int main(int argc, char** argv) try {
  Page page(argc, argv, "diff");
  const std::vector<std::string>& names = page.options.forms;
  if (names.empty()) {
    write_out(form_list());
    return 0;
  }
  const Var X = page.word_vectors("X");
  const int n = X.shape().rows, C = X.shape().cols;
  Matrix dY(Shape{n, C});
  Rng rng(page.seed() + 1);
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < C; ++c) dY(i, c) = Real(rng.normal());
  Form a(names[0], X.value(), page.options.heads, page.seed(), dY), b(names[1], X.value(), page.options.heads, page.seed(), dY);

  page.say("   A: " + names[0] + "\n   B: " + names[1] + "\n   the same " + std::to_string(n) + " words, the same weights, " + std::to_string(page.options.heads) + " heads");
  page.step("Forward", "values", "lines of the same name; \"head 0 E\" is line E of head 0");
  const std::vector<Row> forward = values(a, b), backward = gradients(a, b);
  const Row* parts = tell(page, forward);
  page.step("Back", "gradients", "from the same random dY");
  const Row* back = tell(page, backward);
  page.step("So", names[0] + " and " + names[1]);
  page.say(parts ? fmt::format("   They part at {}: {:.6g} against {:.6g} at row {}, column {}.", parts->step, parts->left, parts->right, parts->row, parts->col)
                 : "   Every value that both have is the same (to 1e-9).");
  const Row end = compare("Y", a.Y.value(), b.Y.value());
  if (end.both) page.say(end.apart <= kSame ? "   The results are the same." : fmt::format("   In the result the largest gap is {:.4g}.", end.apart));
  if (!parts && back) page.say(fmt::format("   The gradients part at {}.", back->step));
  page.check("A: every gradient = central differences", gradients_hold(a, dY));
  page.check("B: every gradient = central differences", gradients_hold(b, dY));
  return page.done();
} catch (const std::exception& e) {
  return fail("diff", e);
}
