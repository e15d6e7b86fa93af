#include "engine/why.h"

#include <algorithm>
#include <cmath>

#include "engine/rng.h"
#include "engine/rule_alone.h"

namespace glass {
inline namespace GLASS_PRECISION {

double why_tolerance() { return sizeof(Real) == 8 ? 1e-10 : 1e-5; }

bool Why::adds_up() const {
  if (sum == stored) return true;  // also two infinities
  const double scale = 1 + (sizeof(Real) == 8 ? std::fabs(stored) : size);
  return std::fabs(sum - stored) < why_tolerance() * scale;
}

static const Node& line_at(const Tape& tape, const WhyCell& at) {
  if (at.line < 0 || at.line >= int(tape.nodes.size())) {
    throw TapeError("why: the tape has no line %" + std::to_string(at.line) + "; its last is %" + std::to_string(int(tape.nodes.size()) - 1));
  }
  const Node& n = tape.nodes[std::size_t(at.line)];
  if (!inside(n.value, at.row, at.col)) {
    throw ShapeError("why: " + label(tape, at.line) + " is " + to_text(n.value.rows, n.value.cols) + ", it has no entry " + entry_text(at.row, at.col));
  }
  return n;
}

// ---------------------------------------------------------------------------------- a gradient

// What one line sent back into one entry.
struct WhySender {
  RuleAlone& alone;
  const WhyCell& x;
  const std::vector<WhyUse>& used;
  int via = -1;

  double arrived() {  // in dx, after a backward
    double sum = 0;
    for (const WhyUse& u : used) {
      const double d = read(alone.tape, alone.dx[std::size_t(u.slot)], u.row, u.col);
      if (d != 0 && via < 0) via = alone.n.in[u.slot];
      sum += d;
    }
    const Param* p = alone.tape.nodes[std::size_t(x.line)].param;
    for (const auto& k : alone.kept)
      if (k.first == p) sum += read(alone.tape, p->grad, x.row, x.col);  // what a recomputed block gave it
    return sum;
  }

  // Do any of these entries of y depend on x_kl? Random numbers do not cancel.
  bool reaches(const std::vector<int>& rows, int first, int cols, Mat upstream, Rng& rng) {
    bool any = false;
    alone.clear();
    for (const int i : rows) {
      for (int j = first; j < first + cols; ++j) {
        if (upstream(i, j) == 0) continue;
        alone.set(i, j, rng.uniform(0.5, 1.5));
        any = true;
      }
    }
    if (!any) return false;
    alone.backward();
    return arrived() != 0;
  }

  void collect(Mat upstream, std::vector<WhyTerm>& terms) {
    Rng rng(1);
    std::vector<int> rows;  // first the rows of y, then the columns that x_kl goes into: most ops need a few of them only
    for (int i = 0; i < upstream.rows; ++i)
      if (reaches({i}, 0, upstream.cols, upstream, rng)) rows.push_back(i);
    for (int j = 0; j < upstream.cols && !rows.empty(); ++j) {
      if (rows.size() > 1 && !reaches(rows, j, 1, upstream, rng)) continue;
      for (const int i : rows) {
        const double dy = double(upstream(i, j));
        if (dy == 0) continue;
        alone.clear();
        alone.set(i, j, 1);
        alone.backward();
        via = -1;
        const double local = arrived();
        if (local == 0) continue;
        terms.push_back({alone.id, i, j, via == x.line ? -1 : via, dy, local, dy * local});
      }
    }
  }
};

static bool larger(const WhyTerm& a, const WhyTerm& b) {  // a NaN is the largest
  if (std::isnan(a.product) || std::isnan(b.product)) return std::isnan(a.product) && !std::isnan(b.product);
  return std::fabs(a.product) > std::fabs(b.product);
}

static int root_of(const Tape& tape) {  // the last line that the sweep reached
  int id = int(tape.nodes.size()) - 1;
  while (id >= 0 && !tape.nodes[std::size_t(id)].reached) --id;
  return id;
}

Why why_gradient(Tape& tape, int line, int row, int col) {
  line_at(tape, {line, row, col});
  tape.var(line).grad();  // says why there is none
  const WhyCell x = owner(tape, {line, row, col});
  Why why{.gradient = true, .line = x.line, .row = x.row, .col = x.col};
  why.stored = read(tape, tape.nodes[std::size_t(x.line)].grad, x.row, x.col);

  const int root = root_of(tape);
  for (int id = 0; id <= root; ++id) {
    const Node& y = tape.nodes[std::size_t(id)];
    if (!y.reached || !y.rule || !y.grad.data) continue;
    const std::vector<WhyUse> used = uses(tape, y, x);
    if (used.empty()) continue;
    RuleAlone alone(tape, id, false);
    WhySender{alone, x, used}.collect(HostView(tape.be, y.grad), why.terms);
  }
  std::stable_sort(why.terms.begin(), why.terms.end(), larger);
  for (const WhyTerm& t : why.terms) {
    why.sum += t.product;
    why.size += std::fabs(t.product);
  }
  const WhyCell seeded = owner(tape, {root, 0, 0});
  const Mat seed = tape.nodes[std::size_t(root)].value;
  if (why.terms.empty() && seeded.line == x.line && inside(seed, x.row - seeded.row, x.col - seeded.col)) {
    why.given = true;
    why.sum = why.stored;
  }
  return why;
}

// ---------------------------------------------------------------------------------- a value

Why why_value(Tape& tape, int line, int row, int col) {
  line_at(tape, {line, row, col});
  const WhyCell y = owner(tape, {line, row, col});
  const Node& n = tape.nodes[std::size_t(y.line)];
  Why why{.line = y.line, .row = y.row, .col = y.col};
  why.stored = why.sum = read(tape, n.value, y.row, y.col);
  why.given = !n.rule;
  if (!n.rule) return why;

  RuleAlone alone(tape, y.line, true);
  alone.clear();
  alone.set(y.row, y.col, 1);
  alone.backward();
  for (int i = 0; i < n.n_in; ++i) {
    const Param* p = tape.nodes[std::size_t(n.in[i])].param;
    bool first = true;
    for (int k = 0; k < i; ++k) first &= tape.nodes[std::size_t(n.in[k])].param != p;
    for (int r = 0; r < alone.x[std::size_t(i)].rows; ++r) {
      for (int c = 0; c < alone.x[std::size_t(i)].cols; ++c) {
        double local = read(tape, alone.dx[std::size_t(i)], r, c);
        if (p && first) local += read(tape, p->grad, r, c);
        if (local == 0) continue;
        const double value = read(tape, alone.x[std::size_t(i)], r, c);
        why.terms.push_back({n.in[i], r, c, -1, value, local, value * local});
      }
    }
  }
  std::stable_sort(why.terms.begin(), why.terms.end(), larger);
  for (const WhyTerm& t : why.terms) why.size += std::fabs(t.product);

  const Matrix again(n.value.shape(), &tape.be);
  tape.be.copy(n.value, again);  // a detached value is not computed twice
  alone.forward(again);
  why.sum = read(tape, again, y.row, y.col);
  return why;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
