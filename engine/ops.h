// The catalogue: every op, one declaration, its formula and its shapes. Each op is one file in engine/ops,
// forward beside backward. The gradient of the loss by y is dy; every backward ADDS its part into dx.
//
//   R x C = rows and columns of the first operand.   ∘ = entry by entry.   `where` fills itself in.
//
// Nothing is broadcast behind your back: add_row, sub_col, ... say what they do.
#pragma once

#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// ---- entry by entry: both operands R x C                       backward
Var add(Var a, Var b, Where where = {});   // a + b               da = dy            db = dy
Var sub(Var a, Var b, Where where = {});   // a - b               da = dy            db = -dy
Var mul(Var a, Var b, Where where = {});   // a ∘ b               da = dy ∘ b        db = dy ∘ a
Var div(Var a, Var b, Where where = {});   // a / b               da = dy / b        db = -dy ∘ y / b
Var neg(Var x, Where where = {});          // -x                  dx = -dy
Var scale(Var x, double s, Where where = {});  // s x             dx = s dy
Var exp(Var x, Where where = {});          // e^x                 dx = dy ∘ y

// ---- a row (1 x C) or a column (R x 1) against every row or column of x
Var add_row(Var x, Var r, Where where = {});  // x_ij + r_j       dx = dy            dr_j = Σ_i dy_ij
Var add_col(Var x, Var c, Where where = {});  // x_ij + c_i       dx = dy            dc_i = Σ_j dy_ij
Var sub_col(Var x, Var c, Where where = {});  // x_ij - c_i       dx = dy            dc_i = -Σ_j dy_ij
Var div_col(Var x, Var c, Where where = {});  // x_ij / c_i       dx_ij = dy_ij / c_i    dc_i = -Σ_j dy_ij y_ij / c_i

// ---- reductions
Var sum(Var x, Where where = {});          // Σ_ij x_ij, 1 x 1    dx_ij = dy
Var row_sum(Var x, Where where = {});      // Σ_j x_ij, R x 1     dx_ij = dy_i
Var col_sum(Var x, Where where = {});      // Σ_i x_ij, 1 x C     dx_ij = dy_j
Var row_max(Var x, Where where = {});      // max_j x_ij, R x 1   dx_ik = dy_i at the first maximum k, else 0

// ---- products
Var matmul(Var a, Var b, Where where = {});     // a b,   R x K · K x C     da = dy bᵀ     db = aᵀ dy
Var matmul_nt(Var a, Var b, Where where = {});  // a bᵀ,  R x K · C x K     da = dy b      db = dyᵀ a

// ---- rows as weights
Var softmax(Var e, Where where = {});      // A_ij = exp(e_ij) / Σ_k exp(e_ik)    de = A ∘ (dA - rowsum(A ∘ dA))

// ---- choosing
Var mask(Var x, Keep keep, double other, Where where = {});            // keep ? x : other    dx = keep ? dy : 0
Var drop_hidden(Var x, Keep keep, Where where = {});  // rows (keys) that no query may use: 0   dx_j = used ? dy_j : 0
Var gather_rows(Var table, const int* ids, int n, Where where = {});   // y_i = table_(ids_i), n x C    dtable_(ids_i) += dy_i
Var detach(Var x, Where where = {});       // x, as if it were a constant: no gradient goes through

// ---- attention in one line; layers/attention/ has the same in steps
Var attention(Var Q, Var K, Var V, double scale, const Keep* keep = nullptr, Where where = {});
// A = softmax(scale Q Kᵀ), Y = A V:  n x d_v from Q n x d, K m x d, V m x d_v.  Backward: see the file.
Var weights_of(Var y, Where where = {});   // the A that attention(...) kept, n x m, as a constant line

}  // namespace GLASS_PRECISION
}  // namespace glass
