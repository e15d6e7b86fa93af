// ∂y_ij/∂x_kl twice: by the rule's own backward, and by nudging x_kl.
#include <algorithm>
#include <cmath>

#include "engine/gradcheck.h"
#include "engine/why.h"
#include "engine/rule_alone.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr bool kDouble = sizeof(Real) == 8;
static constexpr double kSteps[] = {kDouble ? 1e-3 : 5e-2, kDouble ? 1e-4 : 1e-2, kDouble ? 1e-5 : 2e-3};
static constexpr double kFloor = kDouble ? 1e-5 : 5e-3;

bool WhyGap::ok() const { return worst < gradient_tolerance(); }

// y with x_kl set to v.
static Matrix result(RuleAlone& alone, Mat cell, Real v) {
  alone.tape.be.fill(cell, v);
  Matrix y(alone.n.value.shape(), &alone.tape.be);
  alone.forward(y);
  return Matrix(HostView(alone.tape.be, y));
}

// Every ∂y_ij/∂x_kl at once, as gradcheck.cpp has it for one number.
static Matrix slopes(RuleAlone& alone, Mat cell, double x, double h) {
  const Real p2 = Real(x + 2 * h), p1 = Real(x + h), m1 = Real(x - h), m2 = Real(x - 2 * h);
  const Matrix y_p2 = result(alone, cell, p2), y_p1 = result(alone, cell, p1), y_m1 = result(alone, cell, m1), y_m2 = result(alone, cell, m2);
  Matrix slope(y_p1.shape());
  for (int i = 0; i < slope.rows(); ++i) {
    for (int j = 0; j < slope.cols(); ++j) {
      const double inner = (double(y_p1(i, j)) - double(y_m1(i, j))) / (double(p1) - double(m1));
      const double outer = (double(y_p2(i, j)) - double(y_m2(i, j))) / (double(p2) - double(m2));
      slope(i, j) = Real((4 * inner - outer) / 3);
    }
  }
  return slope;
}

static double by_rule(const Why& why, int line, int i, int j) {
  for (const WhyTerm& t : why.terms)
    if (t.line == line && t.row == i && t.col == j) return t.local;
  return 0;
}

static void compare(Tape& tape, const Why& why, int id, WhyGap& gap) {
  RuleAlone alone(tape, id, false);
  const Node& own = tape.nodes[std::size_t(why.line)];
  const Mat cell = own.value.block(why.row, why.col, 1, 1);
  const double x = read(tape, own.value, why.row, why.col);
  if (!std::isfinite(x)) return;  // a masked score cannot be nudged
  std::vector<Matrix> tried;
  for (const double h : kSteps) tried.push_back(slopes(alone, cell, x, h));
  const Matrix y = result(alone, cell, Real(x));  // everything as it was, also what the op keeps
  const HostView dy(tape.be, alone.n.grad);
  double size = 0;
  for (int i = 0; i < y.rows(); ++i)
    for (int j = 0; j < y.cols(); ++j)
      if (std::isfinite(y(i, j))) size = std::max(size, std::fabs(double(y(i, j))));
  for (int i = 0; i < y.rows(); ++i) {
    for (int j = 0; j < y.cols(); ++j) {
      if (dy(i, j) == 0 || !std::isfinite(y(i, j))) continue;
      const double taped = by_rule(why, id, i, j);
      double best = HUGE_VAL, numeric = 0;
      for (const Matrix& slope : tried) {
        const double s = double(slope(i, j)), floor = std::max(kFloor * size, 1e-300);
        const double g = std::fabs(s - taped) / std::max({std::fabs(s), std::fabs(taped), floor});
        if (!(best <= g)) best = g, numeric = s;
      }
      if (gap.line >= 0 && (best <= gap.worst || std::isnan(gap.worst))) continue;
      gap = {best, id, i, j, taped, numeric};
    }
  }
}

WhyGap why_locals(Tape& tape, const Why& why) {
  WhyGap gap;
  if (!why.gradient) return gap;
  for (int id = 0; id < int(tape.nodes.size()); ++id) {
    const Node& y = tape.nodes[std::size_t(id)];
    if (!y.reached || !y.rule || !y.grad.data || uses(tape, y, {why.line, why.row, why.col}).empty()) continue;
    compare(tape, why, id, gap);
  }
  return gap;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
