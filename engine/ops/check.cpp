#include "engine/ops/check.h"

namespace glass {
inline namespace GLASS_PRECISION {

void shape_error(const char* op, const std::string& problem, std::initializer_list<Operand> operands,
                 const std::string& hint, Where where) {
  std::string text = std::string(op) + ": " + problem;
  for (const Operand& o : operands) {
    const Node& n = o.var.tape->node(o.var);
    std::string role = o.role;
    role.resize(6, ' ');
    text += "\n  " + role + " %" + std::to_string(o.var.id) + (*n.name ? " \"" + std::string(n.name) + "\"" : "") + "  " +
            to_text(n.value.rows, n.value.cols);
  }
  if (!hint.empty()) text += "\n  " + hint;
  throw ShapeError(text + "\n  at " + to_text(where));
}

void require_same_tape(const char* op, std::initializer_list<Operand> operands) {
  const Tape* tape = operands.begin()->var.tape;
  for (const Operand& o : operands) {
    if (!o.var.tape) throw TapeError(std::string(op) + ": the " + o.role + " operand is an empty Var");
    if (o.var.tape != tape) throw TapeError(std::string(op) + ": the operands are on two different tapes");
    o.var.tape->node(o.var);  // throws if stale
  }
}

Shape require_same_shape(const char* op, Var a, Var b, Where where) {
  if (!a.tape || a.tape != b.tape) require_same_tape(op, {{"left", a}, {"right", b}});
  const Shape sa = a.tape->node(a).value.shape(), sb = a.tape->node(b).value.shape();
  if (sa == sb) return sa;
  const std::string name = op;
  std::string hint;
  const bool has_both = name == "add" || name == "sub" || name == "mul" || name == "div";
  if (has_both && sb == Shape{1, sa.cols}) hint = "to use one row for every row, say so: " + name + "_row";
  if (has_both && sb == Shape{sa.rows, 1}) hint = "to use one column for every column, say so: " + name + "_col";
  shape_error(op, "the shapes differ", {{"left", a}, {"right", b}}, hint, where);
}

void require_row(const char* op, Var x, Var r, Where where) {
  require_same_tape(op, {{"matrix", x}, {"row", r}});
  if (r.shape() == Shape{1, x.shape().cols}) return;
  shape_error(op, "the row must be 1 x " + std::to_string(x.shape().cols), {{"matrix", x}, {"row", r}}, "", where);
}

void require_col(const char* op, Var x, Var c, Where where) {
  require_same_tape(op, {{"matrix", x}, {"column", c}});
  if (c.shape() == Shape{x.shape().rows, 1}) return;
  shape_error(op, "the column must be " + std::to_string(x.shape().rows) + " x 1", {{"matrix", x}, {"column", c}}, "",
              where);
}

void require_scalar(const char* op, Var x, Var s, Where where) {
  require_same_tape(op, {{"matrix", x}, {"scalar", s}});
  if (s.shape() == Shape{1, 1}) return;
  shape_error(op, "the scalar must be 1 x 1", {{"matrix", x}, {"scalar", s}}, "", where);
}

void require_places(const char* op, const char* role, Var x, const int* places, int n, Shape matrix, Where where) {
  const std::ptrdiff_t entries = count(matrix);
  for (int k = 0; k < n; ++k) {
    if (places[k] >= 0 && places[k] < entries) continue;
    shape_error(op, "place " + std::to_string(places[k]) + " (number " + std::to_string(k) + " of the list) is not in a matrix of " + to_text(matrix.rows, matrix.cols),
                {{role, x}}, "its places are 0 to " + std::to_string(entries - 1), where);
  }
}

void require_constant(const char* op, const char* role, Var v) {
  if (!v.tape->node(v).needs_grad) return;
  throw TapeError(std::string(op) + ": the " + role + " " + label(*v.tape, v.id) +
                  " wants a gradient, but this op sends none to it.\n  Use detach() if it is meant as a constant.");
}

void require_keep(const char* op, Var x, Keep keep, Shape wanted, Where where) {
  if (Shape{keep.rows, keep.cols} == wanted) return;
  const bool turned = Shape{keep.cols, keep.rows} == wanted;
  shape_error(op, "the mask is " + to_text(keep.rows, keep.cols) + ", it must be " + to_text(wanted.rows, wanted.cols),
              {{"matrix", x}}, turned ? "is the mask transposed? rows are queries, columns are keys" : "", where);
}

}  // namespace GLASS_PRECISION
}  // namespace glass
