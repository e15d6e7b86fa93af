#include "engine/gradcheck.h"

#include <algorithm>
#include <cmath>

#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

static constexpr bool kDouble = sizeof(Real) == 8;
static constexpr double kSteps[] = {kDouble ? 1e-3 : 5e-2, kDouble ? 1e-4 : 1e-2, kDouble ? 1e-5 : 2e-3};
static constexpr double kFloor = kDouble ? 1e-5 : 5e-3;

double gradient_tolerance() { return kDouble ? 1e-7 : 5e-3; }

bool GradGap::ok() const { return worst < gradient_tolerance(); }  // false for NaN

// The line to replay from when x is nudged: a view's memory is its parent's, a parameter may be on the tape twice.
static int owner(const Tape& tape, int id) {
  while (tape.nodes[std::size_t(id)].view_of >= 0) id = tape.nodes[std::size_t(id)].view_of;
  const Param* p = tape.nodes[std::size_t(id)].param;
  for (int i = 0; p && i < id; ++i) {
    if (tape.nodes[std::size_t(i)].param == p) return i;
  }
  return id;
}

// One entry of x and what hangs on it.
struct Probe {
  Tape& tape;
  int from, root;
  Mat seed;
  Mat cell;  // 1 x 1

  // Σ seed ∘ root with the cell set to v
  double result(Real v) const {
    tape.be.fill(cell, v);
    tape.rerun(from + 1, root);
    const HostView y(tape.be, tape.nodes[std::size_t(root)].value);
    double sum = 0;
    for (int i = 0; i < seed.rows; ++i)
      for (int j = 0; j < seed.cols; ++j) sum += double(seed(i, j)) * double(y(i, j));
    return sum;
  }

  double slope(Real x, double h) const {
    // the steps that were really taken: x + h is rounded
    const Real p2 = Real(x + 2 * h), p1 = Real(x + h), m1 = Real(x - h), m2 = Real(x - 2 * h);
    const double inner = (result(p1) - result(m1)) / (double(p1) - double(m1));
    const double outer = (result(p2) - result(m2)) / (double(p2) - double(m2));
    return (4 * inner - outer) / 3;  // Richardson: the h^2 errors cancel
  }
};

static Real read(const Tape& tape, Mat cell) {
  Real x = 0;
  tape.be.to_host(cell, Mat{&x, 1, 1, 1});
  return x;
}

GradGap gradient_gap(Tape& tape, Var root, Mat seed, Var x, long sample) {
  const Mat value = x.value();
  const bool has_grad = x.has_grad();
  const Mat grad = has_grad ? x.grad() : Mat{};
  const Shape s = value.shape();
  GradGap gap;
  gap.entries = long(count(s));

  Probe probe{tape, owner(tape, x.id), root.id, seed, {}};
  double size = 0;
  const HostView result(tape.be, root.value());
  for (int i = 0; i < seed.rows; ++i)
    for (int j = 0; j < seed.cols; ++j) size += std::fabs(double(seed(i, j)) * double(result(i, j)));
  const double floor = std::max(kFloor * size, 1e-300);

  Rng rng(1);
  const bool all = gap.entries <= sample;
  for (long k = 0; k < (all ? gap.entries : sample); ++k) {
    const long at = all ? k : long(rng.uniform() * double(gap.entries));
    const int r = int(at / s.cols), c = int(at % s.cols);
    probe.cell = value.block(r, c, 1, 1);
    const Real before = read(tape, probe.cell);
    const double taped = has_grad ? double(read(tape, grad.block(r, c, 1, 1))) : 0;

    double best = HUGE_VAL, numeric = 0;
    for (double h : kSteps) {
      const double n = probe.slope(before, h);
      const double g = std::fabs(n - taped) / std::max({std::fabs(n), std::fabs(taped), floor});
      if (!(best <= g)) best = g, numeric = n;  // also takes over from or to a NaN
      if (best < gradient_tolerance() / 10) break;
    }
    tape.be.fill(probe.cell, before);
    ++gap.checked;
    if (gap.row < 0 || (!(best <= gap.worst) && !std::isnan(gap.worst))) {  // a NaN is the worst of all, and stays
      gap.worst = best, gap.row = r, gap.col = c, gap.taped = taped, gap.numeric = numeric;
    }
  }
  tape.rerun(probe.from + 1, root.id);  // everything as it was
  return gap;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
