// Inside of why.cpp and why_locals.cpp: entries and the memory that they share, and one rule run on memory of its own.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "engine/params.h"
#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct WhyCell {
  int line, row, col;
};

WhyCell owner(const Tape&, WhyCell);  // an entry of a view is an entry of its parent: the same memory
inline bool inside(Mat m, int row, int col) { return row >= 0 && row < m.rows && col >= 0 && col < m.cols; }
double read(const Tape&, Mat, int row, int col);

// Line `id`, whose rule is run on other gradients. A recomputed block adds to its parameters' own gradients, so these are kept
// and put back; nobody watches or times what happens here.
struct RuleAlone {
  Tape& tape;
  int id;
  const Node& n;
  std::vector<Mat> x, dx;
  std::vector<Matrix> memory;
  std::unique_ptr<bool[]> adds;
  Matrix dy;
  std::vector<std::pair<const Param*, Matrix>> kept;
  bool watch;
  Profile* profile;
  bool ran = false;

  RuleAlone(Tape&, int line, bool every_operand);  // false: only those that want a gradient get one
  RuleAlone(const RuleAlone&) = delete;
  ~RuleAlone();
  void keep(const Param*);
  Step step(Mat y, Mat cotangent);
  void backward();      // from dy
  void run_backward(Mat cotangent);
  void forward(Mat y);  // into y
  void clear() { tape.be.fill(dy, 0); }
  void set(int i, int j, double v) { tape.be.fill(dy.view().block(i, j, 1, 1), Real(v)); }
};

// Where an entry is among the operands of a line: in operand `slot` at row, col.
struct WhyUse {
  int slot, row, col;
};

std::vector<WhyUse> uses(const Tape&, const Node& y, const WhyCell& x);  // x: of a line that owns its memory

}  // namespace GLASS_PRECISION
}  // namespace glass
