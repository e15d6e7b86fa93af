// Learned positions: one learned row for each position, added to the words; and how to stretch the table.
#pragma once

#include <string>

#include "engine/ops.h"
#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   Z_i = X_i + P_(first + i)        X, Z: (batch n) x C    P: longest x C
//
//   dX = dZ                          dP_p = the sum of dZ over all rows that stood at p, one for each sequence
//
// A row of P that no sentence reached gets no gradient and stays what it was. A position that P does not have is an
// error: nothing is read past the table. Starts normal with deviation 0.02, as in BERT (Devlin et al. 2019).
struct LearnedPositions {
  Param* table;

  LearnedPositions(ParamStore&, const std::string& name, int longest, int C, Rng&);
  Var operator()(Var X, int batch = 1, int first = 0) const;  // every sequence starts at position `first`. Line "Z"
};

// Where the n new rows lie between the L old ones.
enum class Stretch {
  half_pixel,     // s = (r + 1/2) L/n - 1/2, not outside the table: rows are little areas, the usual choice
  align_corners,  // s = r (L - 1)/(n - 1): rows are points, the first and the last stay where they are
};
double source_row(Stretch, int r, int L, int n);

//   P'_r = (1 - f) P_⌊s⌋ + f P_(⌊s⌋+1)       f = s - ⌊s⌋        P: L x C    P': n x C
//
//   dP_⌊s⌋ += (1 - f) dP'_r                  dP_(⌊s⌋+1) += f dP'_r
//
// A table for L positions, resampled for n. (Vision transformers do it in two dimensions.) Line "P'".
Var stretched(Var P, int n, Stretch = Stretch::half_pixel);

}  // namespace GLASS_PRECISION
}  // namespace glass
