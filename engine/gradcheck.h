// Is the taped gradient right? Nudge one number, replay the tape, and see how much the result moved.
//
// The result is L = Σ_ij seed_ij root_ij with the seed that backward() was given. A lesson and every test give a
// RANDOM seed: with all ones, L would be the sum of the entries, and a sum is blind for softmax (its rows add up
// to 1 whatever E is, so a backward that does nothing would pass).
//
// Five-point central difference, error O(h^4):
//   dL/dx ≈ (-L(x+2h) + 8 L(x+h) - 8 L(x-h) + L(x-2h)) / 12h
// tried with a few step sizes, because a large h suffers from curvature and a small one from round-off; the best
// agreement counts (lesson 03 shows the valley in between).
#pragma once

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct GradGap {
  double worst = 0;             // the largest relative difference found
  int row = -1, col = -1;       // where
  double taped = 0, numeric = 0;  // the two numbers there
  long checked = 0, entries = 0;  // a large matrix is sampled
  bool ok() const;              // worst is below gradient_tolerance() (and is a number)
};

double gradient_tolerance();    // 1e-7 in double; 5e-3 in float, where differences can say no more

// Compares the gradient that the last backward(root, seed) left in x with differences, entry by entry.
//   gap = |numeric - taped| / max(|numeric|, |taped|, floor)    floor: a small part of Σ |seed ∘ root|, below which
//                                                               the differences see only round-off
// x may be a leaf, a parameter, a view or any line before root. All values are put back bit for bit.
// At most `sample` entries are tried, chosen at random by a fixed seed.
GradGap gradient_gap(Tape&, Var root, Mat seed, Var x, long sample = 1000);

}  // namespace GLASS_PRECISION
}  // namespace glass
