// The closed formulas in plain loops. They share nothing with the engine's kernels, so that a lesson can hold the
// tape against them.
#pragma once

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace by_hand {

Matrix product(Mat A, Mat B);       // A B
Matrix product_nt(Mat A, Mat B);    // A Bᵀ
Matrix product_tn(Mat A, Mat B);    // Aᵀ B
Matrix sum(Mat A, Mat B);           // A + B
Matrix add_row(Mat A, Mat r);       // A_ij + r_j
Matrix scaled(double s, Mat A);     // s A
Matrix softmax(Mat E);              // rows; one that is all -inf gives zeros
Matrix softmax_backward(Mat A, Mat dA);  // A ∘ (dA - rowsum(A ∘ dA))
Matrix conv2d(Mat X, Mat w);        // Σ_ab w_ab X_(i-A+1+a, j-(B-1)/2+b), w: A x B
Matrix conv2d_dX(Mat dY, Mat w);
Matrix conv2d_dw(Mat X, Mat dY, Shape w);
Matrix row_sums(Mat A);             // R x 1
Matrix col_sums(Mat A);             // 1 x C
double norm(Mat A);                 // √(Σ A_ij²)
double distance(Mat A, Mat B);      // norm of A - B
double dot(Mat A, Mat B);           // Σ A_ij B_ij
bool same(Mat A, Mat B);            // A_ij == B_ij everywhere: no tolerance
double apart(Mat A, Mat B);         // max |A_ij - B_ij|
Matrix singular_values(Mat A);      // 1 x (the smaller size), the largest first

}  // namespace by_hand
}  // namespace GLASS_PRECISION
}  // namespace glass
