#include "engine/nonfinite.h"

#include <cmath>

#include "engine/hooks.h"

namespace glass {
inline namespace GLASS_PRECISION {

BadEntry first_bad_entry(const Tape& tape, Mat values, bool minus_inf_is_fine) {
  const HostView host(tape.be, values);
  const Mat m = host;
  for (int r = 0; r < m.rows; ++r) {
    for (int c = 0; c < m.cols; ++c) {
      const Real x = m(r, c);
      if (std::isfinite(x) || (minus_inf_is_fine && x < 0)) continue;
      return {r, c, double(x)};
    }
  }
  return {};
}

static bool any_meant(const Tape& tape, const Node& n) {
  for (int i = 0; i < n.n_in; ++i) {
    if (tape.nodes[std::size_t(n.in[i])].finite == Finite::meant) return true;
  }
  return false;
}

static bool any_bad(const Tape& tape, const Node& n) {
  for (int i = 0; i < n.n_in; ++i) {
    if (tape.nodes[std::size_t(n.in[i])].finite == Finite::no) return true;
  }
  return false;
}

// Sets node.finite, and notes the first line whose value is not finite though its operands were.
void Tape::inspect(int id) {
  Node& n = nodes[std::size_t(id)];
  n.finite = Finite::yes;
  if (first_bad_entry(*this, n.value, false).row < 0) return;
  const bool minus_inf_is_fine = (n.rule && n.rule->means_minus_inf()) || any_meant(*this, n);
  if (first_bad_entry(*this, n.value, minus_inf_is_fine).row < 0) {
    n.finite = Finite::meant;
    return;
  }
  n.finite = Finite::no;
  if (first_nonfinite < 0 && !any_bad(*this, n)) {
    first_nonfinite = id;
    glass_nonfinite(*n.name ? n.name : n.op, id);
  }
}

static std::string entry_of(const Node& n, const BadEntry& e) {
  return (*n.name ? n.name : "entry ") + entry_text(e.row, e.col) + " = " + to_text(e.value);
}

// The entry of an operand that entry `at` of the result was made of; a row or a column is used for all of them.
static BadEntry same_place(const Tape& tape, const Node& n, const Node& x, const BadEntry& at) {
  const Shape X = x.value.shape(), Y = n.value.shape();
  const int r = X.rows == 1 ? 0 : at.row, c = X.cols == 1 ? 0 : at.col;
  const bool fits = (X.rows == Y.rows || X.rows == 1) && (X.cols == Y.cols || X.cols == 1) && r < X.rows && c < X.cols;
  if (!n.rule || n.rule->mixes_entries() || !fits) return {};
  const HostView host(tape.be, x.value.block(r, c, 1, 1));
  return {r, c, double(host(0, 0))};
}

static std::string operands_of(const Tape& tape, const Node& n, const BadEntry& at) {
  std::string text;
  for (int i = 0; i < n.n_in; ++i) {
    const Node& x = tape.nodes[std::size_t(n.in[i])];
    text += "\n  from " + label(tape, n.in[i]) + ", " + to_text(x.value.rows, x.value.cols);
    BadEntry e = first_bad_entry(tape, x.value, false);
    if (e.row < 0) e = same_place(tape, n, x, at);
    if (e.row >= 0) text += ", where " + entry_of(x, e) + (x.finite == Finite::meant ? " (a mask's, meant)" : "");
  }
  return text;
}

static std::string recorded_at(const Node& n) {
  return "\n  recorded at " + to_text(n.where) + (*n.scope ? std::string(", in ") + n.scope : "");
}

void throw_nonfinite(const Tape& tape, int root) {
  const int id = tape.first_nonfinite >= 0 ? tape.first_nonfinite : root;
  const Node& n = tape.nodes[std::size_t(id)];
  const bool minus_inf_is_fine = (n.rule && n.rule->means_minus_inf()) || any_meant(tape, n);
  const BadEntry e = first_bad_entry(tape, n.value, minus_inf_is_fine);
  std::string text = "the first value that is not finite: " + entry_of(n, e) + " of " + label(tape, id) + ", " +
                     to_text(n.value.rows, n.value.cols);
  if (!n.rule) {
    text += "\n  it was given: the " + std::string(n.op) + " itself holds it";
  } else if (n.rule->hazard()) {
    text += std::string("\n  why: ") + n.rule->hazard();
  }
  text += operands_of(tape, n, e) + recorded_at(n);
  if (id != root) text += "\n  it reaches " + label(tape, root) + ", where backward() was to start";
  throw NonFiniteError(text);
}

void Tape::inspect_gradients(const Step& s) {
  const Node& n = nodes[std::size_t(s.id)];
  for (int i = 0; i < s.n_in; ++i) {
    if (!s.dx[i].data) continue;
    const BadEntry e = first_bad_entry(*this, s.dx[i], false);
    if (e.row < 0) continue;
    const Node& x = nodes[std::size_t(n.in[i])];
    glass_nonfinite(*x.name ? x.name : x.op, n.in[i]);
    std::string text = "the first gradient that is not finite: d" + entry_of(x, e) + " of " + label(*this, n.in[i]) +
                       "\n  it was sent back by " + label(*this, s.id);
    if (n.rule->hazard()) text += std::string("\n  why: ") + n.rule->hazard();
    if (first_nonfinite >= 0 && first_nonfinite != s.id) {
      text += "\n  a value was bad already: " + label(*this, first_nonfinite);
    }
    throw NonFiniteError(text + operands_of(*this, n, e) + recorded_at(n));
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
