// The catalogue: every op, one declaration, its formula and its shapes. Each op is one file in engine/ops,
// forward beside backward. The gradient of the loss by y is dy; every backward ADDS its part into dx.
//
//   R x C = rows and columns of the first operand.   ∘ = entry by entry.   `where` fills itself in.
//
// Nothing is broadcast behind your back: add_row, sub_col, ... say what they do.
#pragma once

#include "engine/pair_list.h"
#include "engine/tape.h"

namespace glass {
inline namespace GLASS_PRECISION {

// ---- entry by entry: both operands R x C                       backward
Var add(Var a, Var b, Where where = {});   // a + b               da = dy            db = dy
Var sub(Var a, Var b, Where where = {});   // a - b               da = dy            db = -dy
Var mul(Var a, Var b, Where where = {});   // a ∘ b               da = dy ∘ b        db = dy ∘ a
Var div(Var a, Var b, Where where = {});   // a / b               da = dy / b        db = -dy ∘ y / b
Var pow(Var a, Var b, Where where = {});   // a^b                 da = dy b a^(b-1)  db = dy y ln a
Var maximum(Var a, Var b, Where where = {});  // max(a, b)        dy to the larger; a tie to a

// ---- functions of one number, R x C -> R x C; engine/functions.h has value and slope side by side
Var neg(Var x, Where where = {});          // -x                  dx = -dy
Var scale(Var x, double s, Where where = {});       // s x        dx = s dy
Var add_number(Var x, double s, Where where = {});  // x + s      dx = dy
Var clamp(Var x, double low, double high, Where where = {});  // min(max(x, low), high)    dx = dy inside, else 0
Var exp(Var x, Where where = {});          // e^x                 dx = dy ∘ y
Var log(Var x, Where where = {});          // ln x                dx = dy / x
Var sin(Var x, Where where = {});          // sin x               dx = dy cos x
Var cos(Var x, Where where = {});          // cos x               dx = -dy sin x
Var sqrt(Var x, Where where = {});         // √x                  dx = dy / 2y
Var abs(Var x, Where where = {});          // |x|                 dx = dy sign(x), 0 at 0
Var tanh(Var x, Where where = {});         // tanh x              dx = dy / cosh² x
Var sigmoid(Var x, Where where = {});      // 1 / (1 + e^-x)      dx = dy y (1 - y)
Var softplus(Var x, Where where = {});     // ln(1 + e^x)         dx = dy sigmoid(x)
Var elu_plus_one(Var x, Where where = {}); // x + 1 for x > 0, else e^x, always positive    dx = dy (x > 0 ? 1 : y)
Var relu(Var x, Where where = {});         // max(x, 0)           dx = dy where x > 0, else 0
Var gelu(Var x, Where where = {});         // x Φ(x)              dx = dy (Φ(x) + x φ(x))
Var gelu_tanh(Var x, Where where = {});    // its approximation with tanh
Var silu(Var x, Where where = {});         // x sigmoid(x)        dx = dy σ(x) (1 + x (1 - σ(x)))
Var dropout(Var x, double p, std::uint64_t seed, Where where = {});  // kept ? x / (1-p) : 0    dx = kept ? dy / (1-p) : 0

// ---- one number (1 x 1), a row (1 x C) or a column (R x 1) against all of x
Var add_scalar(Var x, Var s, Where where = {});  // x_ij + s      dx = dy            ds = Σ_ij dy_ij
Var mul_scalar(Var x, Var s, Where where = {});  // x_ij s        dx = s dy          ds = Σ_ij dy_ij x_ij
Var add_row(Var x, Var r, Where where = {});  // x_ij + r_j       dx = dy            dr_j = Σ_i dy_ij
Var sub_row(Var x, Var r, Where where = {});  // x_ij - r_j       dx = dy            dr_j = -Σ_i dy_ij
Var mul_row(Var x, Var r, Where where = {});  // x_ij r_j         dx_ij = dy_ij r_j      dr_j = Σ_i dy_ij x_ij
Var div_row(Var x, Var r, Where where = {});  // x_ij / r_j       dx_ij = dy_ij / r_j    dr_j = -Σ_i dy_ij y_ij / r_j
Var add_col(Var x, Var c, Where where = {});  // x_ij + c_i       dx = dy            dc_i = Σ_j dy_ij
Var sub_col(Var x, Var c, Where where = {});  // x_ij - c_i       dx = dy            dc_i = -Σ_j dy_ij
Var mul_col(Var x, Var c, Where where = {});  // x_ij c_i         dx_ij = dy_ij c_i      dc_i = Σ_j dy_ij x_ij
Var div_col(Var x, Var c, Where where = {});  // x_ij / c_i       dx_ij = dy_ij / c_i    dc_i = -Σ_j dy_ij y_ij / c_i

// ---- reductions: to 1 x 1, R x 1 or 1 x C
Var sum(Var x, Where where = {});          // Σ_ij x_ij           dx_ij = dy
Var row_sum(Var x, Where where = {});      // Σ_j x_ij            dx_ij = dy_i
Var col_sum(Var x, Where where = {});      // Σ_i x_ij            dx_ij = dy_j
Var mean(Var x, Where where = {});         // Σ_ij x_ij / RC      dx_ij = dy / RC
Var row_mean(Var x, Where where = {});     // Σ_j x_ij / C        dx_ij = dy_i / C
Var col_mean(Var x, Where where = {});     // Σ_i x_ij / R        dx_ij = dy_j / R
Var max(Var x, Where where = {});          // max_ij x_ij         dx = dy at the first maximum, else 0
Var row_max(Var x, Where where = {});      // max_j x_ij          dx_ik = dy_i at the first maximum k, else 0
Var col_max(Var x, Where where = {});      // max_i x_ij          dx_kj = dy_j at the first maximum k, else 0
Var norm(Var x, Where where = {});         // √(Σ_ij x_ij²)       dx = dy x / y, 0 for x = 0
Var log_sum_exp(Var x, Where where = {});  // ln Σ_j e^(x_ij)     dx_ij = e^(x_ij - y_i) dy_i

// ---- products and order
Var matmul(Var a, Var b, Where where = {});     // a b,   R x K · K x C     da = dy bᵀ     db = aᵀ dy
Var matmul_nt(Var a, Var b, Where where = {});  // a bᵀ,  R x K · C x K     da = dy b      db = dyᵀ a
Var linear(Var x, Var w, Var b, Where where = {});  // x w + b,  R x K · K x C + 1 x C     dx = dy wᵀ     dw = xᵀ dy     db = column sums of dy
Var matmul_tn(Var a, Var b, Where where = {});  // aᵀ b,  K x R · K x C     da = b dyᵀ     db = a dy
Var transpose(Var x, Where where = {});         // xᵀ,    R x C -> C x R    dx = dyᵀ
Var concat_rows(const Var* x, int n, Where where = {});  // below each other    dx_k = its rows of dy
Var concat_cols(const Var* x, int n, Where where = {});  // side by side        dx_k = its columns of dy
Var conv1d(Var X, Var W, int left, Where where = {});    // Y_t = Σ_k X_(t+k-left) W_k,  T x A, K A x C -> T x C
Var depthwise_conv1d(Var X, Var W, int left, Where where = {});  // Y_tc = Σ_k X_(t+k-left),c W_kc,  T x C, K x C -> T x C
Var conv2d_causal(Var X, Var W, Where where = {});  // Y_ij = Σ_ab W_ab X_(i-A+1+a, j-(B-1)/2+b),  R x C, A x B -> R x C
// (views of rows, columns and blocks are no ops: tape.rows, tape.cols, tape.view)

// ---- rows as weights, rows made alike
Var softmax(Var e, Where where = {});      // A_ij = exp(e_ij) / Σ_k exp(e_ik)    de = A ∘ (dA - rowsum(A ∘ dA))
Var sparsemax(Var e, Where where = {});    // max(e_ij - τ_i, 0), rows sum to 1       de = dA - mean of dA over the support, 0 beside it
Var entmax15(Var e, Where where = {});     // max(e_ij / 2 - τ_i, 0)², the same       de = g ∘ (dA - Σ g dA / Σ g), g = √A
Var log_softmax(Var x, Where where = {});  // x_ij - ln Σ_k e^(x_ik)              dx_ij = dy_ij - e^(y_ij) Σ_k dy_ik
Var layer_norm(Var x, Var gain, Var bias, double eps = 1e-5, Where where = {});
// x̂ ∘ gain + bias, x̂ = (x - μ) r, r = 1/√(variance + eps)        dx = r (u - mean u - x̂ mean(u ∘ x̂)), u = dy ∘ gain
Var rms_norm(Var x, Var gain, double eps = 1e-5, Where where = {});
// x̂ ∘ gain, x̂ = x r, r = 1/√(mean x² + eps)                      dx = r (u - x̂ mean(u ∘ x̂)), u = dy ∘ gain

// ---- losses
struct CrossEntropy {
  int ignore = -100;     // a row with this target does not count
  double smoothing = 0;  // ε, spread over all classes
};
Var cross_entropy(Var x, const int* targets, int n, CrossEntropy = {}, Where where = {});
// mean over the rows that count of -Σ_j q_ij ln softmax(x)_ij, 1 x 1     dx = dy (softmax(x) - q) / rows that count
Var bce_logits(Var x, Var t, Where where = {});  // t softplus(-x) + (1-t) softplus(x), R x C     dx = dy (sigmoid(x) - t)
Var mse(Var a, Var b, Where where = {});   // Σ_ij (a - b)² / RC, 1 x 1            da = 2 dy (a - b) / RC     db = -da
Var kl(Var p, Var log_q, Where where = {});      // Σ_j p (ln p - log_q), R x 1          dlog_q = -p dy

// ---- choosing
Var select(Keep keep, Var a, Var b, Where where = {});                 // keep ? a : b    da = keep ? dy : 0    db = keep ? 0 : dy
Var mask(Var x, Keep keep, double other, Where where = {});            // keep ? x : other    dx = keep ? dy : 0
Var top_k_mask(Var x, int k, double other, Where where = {});          // one of the k largest of its row ? x : other    dx = chosen ? dy : 0
Var drop_hidden(Var x, Keep keep, Where where = {});  // rows (keys) that no query may use: 0   dx_j = used ? dy_j : 0
Var gather_rows(Var table, const int* ids, int n, Where where = {});   // y_i = table_(ids_i), n x C    dtable_(ids_i) += dy_i
Var gather_entries(Var x, const int* places, Shape shape, Where where = {});   // y_k = x at place_k     dx at place_k += dy_k
Var scatter_entries(Var x, const int* places, Shape shape, Where where = {});  // y at place_k += x_k    dx_k = dy at place_k
Var detach(Var x, Where where = {});       // x, as if it were a constant: no gradient goes through

// ---- memory for time: a part of the computation that keeps no line of its own; see engine/recompute.h
struct Recomputable;
Var recompute(Recomputable& block, const Var* in, int n, Where where = {});  // y = block(in)    runs it again, then back through it

// ---- positions
Var rotary(Var x, const Rotary& = {}, Where where = {});  // pairs of row p turned by p base^(-2i/C)    dx = dy turned back

// ---- attention in one line; layers/attention/ has the same in steps
Var attention(Var Q, Var K, Var V, double scale, const Keep* keep = nullptr, Where where = {});
// A = softmax(scale Q Kᵀ), Y = A V:  n x d_v from Q n x d, K m x d, V m x d_v.  Backward: see the file.
Var causal_sums(Var a, Var b, Var V, int lag = 0, Where where = {});  // a: n x D, b: m x D, V: m x d_v -> n x (d_v + 1)
// row t: [a_t S | a_t·z], S = Σ_j b_j v_jᵀ and z = Σ_j b_j over j <= t + m - n - lag; no n x m matrix.  Backward: see the file.
Var flash_attention(Var Q, Var K, Var V, double scale, const Tiling& = {}, Where where = {});
// The same Y, tile by tile: no n x m matrix is ever there. With tiling.with_L: [Y | L], L_i = ln Σ_j e^(E_ij), n x (d_v + 1).
// All heads of all sequences at once, too: tiling.batch, .heads, .kv_heads, and the shapes in engine/backend.h.
struct FlashFields {
  Mat L, D;  // n x 1, a column for each head; D after backward
  int tiles, rescalings;
};
FlashFields flash_fields(Var y);  // what flash_attention(...) kept, and counted in its last forward
Var sparse_attention(Var Q, Var K, Var V, double scale, PairList allowed, Where where = {});
// The same for the pairs of a list, and no work for the others: A_ij = exp(E_ij) / Σ_l exp(E_il) over the allowed l.
Var weights_of(Var y, Where where = {});   // the A that attention or sparse_attention kept, n x m, as a constant line
Mat kept_weights(const Node&);             // that of attention, without a new line; throws TapeError for any other op

}  // namespace GLASS_PRECISION
}  // namespace glass
