// Why is this number what it is? One entry of a gradient or of a value, taken apart along the tape.
//
// x_kl goes into entries y_ij of the lines that use x, and each of them sends a part of its own gradient back:
//
//   dx_kl = Σ_y Σ_ij  dy_ij · ∂y_ij/∂x_kl         upstream × local derivative
//
// Ask the same of each dy_ij, and so on up to the root, and the sum runs over every path from x_kl to the root.
//
// No op has code for this. A backward is linear in dy, so with a dy that is 1 at i,j and 0 elsewhere it leaves ∂y_ij/∂x_kl in
// dx_kl. It is run on memory of its own: afterwards every value and gradient is as before, bit for bit.
#pragma once

#include <string>
#include <vector>

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct WhyTerm {
  int line = -1;         // of a gradient: the line y that sent this part; of a value: the operand
  int row = 0, col = 0;  // the entry i,j of that line
  int via = -1;          // of a gradient: the line that y lists, if that is a view of x or another use of a parameter; else -1
  double upstream = 0;   // of a gradient: dy_ij; of a value: the operand's entry
  double local = 0;      // of a gradient: ∂y_ij/∂x_kl; of a value: how much it moves when this entry moves
  double product = 0;    // upstream · local
};

struct Why {
  bool gradient = false;
  int line = -1, row = 0, col = 0;  // the entry; that of a view is its parent's
  double stored = 0;                // what the tape holds
  double sum = 0;                   // of a gradient: Σ product; of a value: its line computed once more
  double size = 0;                  // of a gradient: Σ |product|, against which float may lose digits
  bool given = false;               // nothing made it: a leaf, or the seed of the root
  std::vector<WhyTerm> terms{};     // the largest product first; those that are 0 are left out

  bool adds_up() const;             // sum and stored differ by less than why_tolerance(), relative to 1 + size; false for a NaN
};

double why_tolerance();  // 1e-10 in double, 1e-5 in float

// The entry row, col of the gradient that the last backward() left in a line. Throws TapeError if the line has no gradient, or
// if it cannot be asked right now (in the middle of a recompute), ShapeError if there is no such entry.
// A parameter keeps what earlier sweeps gave it: then the stored value is more than the sum.
Why why_gradient(Tape&, int line, int row, int col);

// The entry row, col of a line's value: which entries of its operands it was made of. Throws like why_gradient.
Why why_value(Tape&, int line, int row, int col);

// The sum cannot tell whether a rule is right: it asks the same rule. So x_kl is nudged, and each line that it goes into is
// computed again, alone. The largest difference between ∂y_ij/∂x_kl by the rule and by differences, over all y_ij that have a
// gradient; also where the rule has no term at all. All values are put back bit for bit.
struct WhyGap {
  double worst = 0;  // relative
  int line = -1, row = 0, col = 0;
  double taped = 0, numeric = 0;
  bool ok() const;   // worst is below gradient_tolerance()
};
WhyGap why_locals(Tape&, const Why&);  // of a gradient; of a value or a seed there is nothing to compare

}  // namespace GLASS_PRECISION
}  // namespace glass
