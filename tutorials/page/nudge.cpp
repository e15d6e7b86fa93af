// What changes downstream when one number moves, and how the secant meets the gradient.
#include <cmath>
#include <cstring>

#include "engine/choosing.h"
#include "tutorials/page/walk.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Replays begin after the first line that shares the entry's memory: a view's parent, another use of a parameter.
static int first_owner(const Tape& tape, int id) {
  while (tape.nodes[std::size_t(id)].view_of >= 0) id = tape.nodes[std::size_t(id)].view_of;
  const Param* p = tape.nodes[std::size_t(id)].param;
  for (int i = 0; p && i < id; ++i)
    if (tape.nodes[std::size_t(i)].param == p) return i;
  return id;
}

static std::vector<Matrix> values(const Tape& tape, int last) {
  std::vector<Matrix> all;
  for (int id = 0; id <= last; ++id) all.emplace_back(HostView(tape.be, tape.nodes[std::size_t(id)].value));
  return all;
}

static double dot(Mat seed, Mat root) {
  double sum = 0;
  for (int i = 0; i < seed.rows; ++i)
    for (int j = 0; j < seed.cols; ++j) sum += double(seed(i, j)) * double(root(i, j));
  return sum;
}

static bool same_bits(Mat a, Mat b) {
  for (int r = 0; r < a.rows; ++r)
    if (a.cols > 0 && std::memcmp(a.row(r), b.row(r), std::size_t(a.cols) * sizeof(Real)) != 0) return false;
  return true;
}

// Would a fresh run of this line decide what its replay kept? Asked on the operands as they are now; afterwards all is as before.
static bool decides_otherwise(Tape& tape, int id) {
  const Node& n = tape.nodes[std::size_t(id)];
  const Choosing* op = dynamic_cast<const Choosing*>(n.rule);
  const bool held = std::string(n.op) == "detach";  // it holds on to a value as others do to a choice
  if (!op && !held) return false;
  const Matrix kept(n.value);
  std::vector<unsigned char> choice;
  if (op) choice.resize(op->choice().bytes);
  if (op) std::memcpy(choice.data(), op->choice().data, choice.size());
  Step s = tape.step(id);
  s.decide = true;
  n.rule->forward(s);
  const bool otherwise = op ? std::memcmp(choice.data(), op->choice().data, choice.size()) != 0 : !same_bits(kept, n.value);
  if (op) std::memcpy(op->choice().data, choice.data(), choice.size());
  tape.be.copy(kept, n.value);
  return otherwise;
}

Nudge nudged(Tape& tape, int line, int row, int col, double h, int root, Mat seed) {
  const int from = first_owner(tape, line), last = root >= 0 ? root : int(tape.nodes.size()) - 1;
  const Mat cell = tape.nodes[std::size_t(line)].value.block(row, col, 1, 1);
  const std::vector<Matrix> was = values(tape, last);
  const Real x = was[std::size_t(line)](row, col);
  Nudge n;
  if (root >= 0) n.before = dot(seed, was[std::size_t(root)]);

  tape.be.fill(cell, Real(x + h));
  tape.rerun(from + 1, last);
  const std::vector<Matrix> now = values(tape, last);
  if (root >= 0) n.after = dot(seed, now[std::size_t(root)]);
  for (int id = from + 1; id <= last && n.otherwise < 0 && tape.be.host_readable(); ++id)
    if (decides_otherwise(tape, id)) n.otherwise = id;
  for (int id = from; id <= last; ++id) {
    Nudge::Change change{id, 0, 0};
    const Mat a = was[std::size_t(id)], b = now[std::size_t(id)];
    for (int r = 0; r < a.rows; ++r) {
      for (int c = 0; c < a.cols; ++c) {
        if (a(r, c) == b(r, c) || (std::isnan(a(r, c)) && std::isnan(b(r, c)))) continue;
        ++change.entries;
        const double by = double(b(r, c)) - double(a(r, c));
        if (!(std::fabs(by) <= std::fabs(change.most))) change.most = by;
      }
    }
    if (change.entries && id != line && tape.nodes[std::size_t(id)].rule) n.changes.push_back(change);
  }

  for (int k = 0; k < 9 && root >= 0; ++k, h /= 10) {
    const Real moved = Real(x + h);
    if (moved == x) break;  // h is too small to be added
    tape.be.fill(cell, moved);
    tape.rerun(from + 1, last);
    const HostView y(tape.be, tape.nodes[std::size_t(root)].value);
    n.slopes.push_back({h, (dot(seed, y) - n.before) / (double(moved) - double(x))});
  }

  tape.be.fill(cell, x);
  tape.rerun(from + 1, last);
  n.restored = true;
  for (int id = 0; id <= last; ++id) n.restored &= same_bits(HostView(tape.be, tape.nodes[std::size_t(id)].value), was[std::size_t(id)]);
  return n;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
