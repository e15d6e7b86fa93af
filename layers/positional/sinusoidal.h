// Sinusoidal positions: a fixed pattern of waves, one row for each position, added to the words.
#pragma once

#include "engine/ops.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   P_(p, 2i) = sin(p w_i)    P_(p, 2i+1) = cos(p w_i)    w_i = 10000^(-2i/C)        P: n x C
//
// i counts PAIRS of columns: both columns of a pair have the frequency w_i. The wavelengths 2π / w_i run from 2π to
// nearly 10000 · 2π. Row p + k is row p with each pair turned by the angle k w_i, and P_p · P_q = Σ_i cos((p - q) w_i)
// depends on the distance only. An odd width ends with a sine. Nothing is learned.
//
// Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
Matrix sinusoidal_table(int n, int C, int first = 0);  // row r is position first + r

//   Z = √C X + P                  dX = √C dZ            X, Z: (batch n) x C
//
// The factor stands in section 3.4 of the paper: words from a table that starts small would drown in waves of size 1.
// Lines: "√C X", "waves" (P), "Z".
struct SinusoidalPositions {
  Var operator()(Var X, int batch = 1, int first = 0) const;  // every sequence starts at position `first`
};

}  // namespace GLASS_PRECISION
}  // namespace glass
