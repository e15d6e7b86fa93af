// What the tests share: matrices by formula or by chance, and what "equal" means in each precision.
#pragma once

#include <string>

#include "engine/mat.h"
#include "engine/rng.h"

namespace glass {
inline namespace GLASS_PRECISION {

Matrix sines(Shape, double s, double a, double b, double c = 0);    // s · sin(a i + b j + c)
Matrix cosines(Shape, double s, double a, double b, double c = 0);  // s · cos(a i + b j + c)
Matrix random_matrix(Shape, Rng&);                                  // uniform in [-1, 1)
Matrix identity(int n);

struct Tolerance {
  double relative, absolute;
};
constexpr bool kDouble = sizeof(Real) == 8;
// against numbers that were printed with ten digits
constexpr Tolerance kPrinted = kDouble ? Tolerance{1e-9, 1e-9} : Tolerance{1e-5, 1e-6};
// against the same numbers, computed in another order
constexpr Tolerance kRounding = kDouble ? Tolerance{1e-12, 1e-12} : Tolerance{1e-5, 1e-6};

// Empty if the two agree, else the first entry that does not, in words. So a test that fails says where:
//   CHECK(difference(Y.value(), Matrix{{1, 2}, {3, 4}}) == "");
std::string difference(Mat got, Mat want, Tolerance = kPrinted);
std::string bit_difference(Mat got, Mat want);  // not one bit may differ: 0 and -0 do

bool all_zero(Mat);

// Σ_k m_k cos(0.7 k + 0.3), k counts row by row: one number that changes when rows or columns change places
double fingerprint(Mat);

}  // namespace GLASS_PRECISION
}  // namespace glass
