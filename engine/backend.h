// The kernel interface: everything an op may ask of a device. engine/cpu implements it in plain loops,
// engine/cuda on a GPU. A kernel that is pure virtual here is demanded of every backend by the compiler.
//
// Conventions. Shapes are checked by the ops, not here. Every Mat may be a view (ld > cols).
// "y = ..." overwrites and never reads y; "y += ..." adds. An output is never the memory of an input,
// except where said.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/functions.h"
#include "engine/mat.h"
#include "engine/pair_list.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Which operands of a product are read transposed. NN: A B,  NT: A B^T,  TN: A^T B.
enum class Product { NN, NT, TN };

// Rotary positions: row r stands at p = (first + r) · spacing, and pair i of its channels is turned by p base^(-2i/dims).
struct Rotary {
  enum class Pairs { interleaved, half };  // channels (2i, 2i+1), or (i, i + dims/2)
  Pairs pairs = Pairs::interleaved;
  int first = 0;
  double base = 10000;
  int dims = -1;       // how many channels turn, from the left; -1: all
  double spacing = 1;  // L/L' squeezes L' rows into the positions 0 to L
  int batch = 1;       // sequences, one under the other: each begins at `first`
  int heads = 1;       // blocks of channels side by side: each is turned like a matrix of its own

  int turned(int width) const { return dims < 0 ? width : dims; }
};

// How attention is cut into tiles of scores, and who sees whom (engine/ops/flash_attention.cpp).
//
//   Q: (batch n) x (heads d)      K: (batch m) x (kv_heads d)      V: (batch m) x (kv_heads d_v)
//   Y: (batch n) x (heads d_v)    L: (batch n) x heads             query head h reads key head h / (heads / kv_heads)
struct Tiling {
  int queries = 32, keys = 32;  // of one tile; the result does not depend on it
  bool causal = false;          // query i sees the keys up to i + m - n
  Keep keep{};                  // no rows: every pair; one row: the same keys for every query; n rows: any pairs
  double tau = 0;               // how far the running maximum may lag behind before the sums are rescaled
  bool with_L = false;          // the result is [Y | L]
  int batch = 1, heads = 1, kv_heads = 1;
  int masks = 1;                // `batch`: keep holds one mask for each sequence, one under the other; 1: the same for all

  Keep keep_of(int sequence) const {
    const int rows = keep.rows / masks;
    return {keep.data + (masks > 1 ? std::ptrdiff_t(sequence) * rows * keep.cols : 0), rows, keep.cols};
  }
};

// One update of AdamW (layers/optim/adamw.h). correct1 = 1 - β₁ᵗ, correct2 = 1 - β₂ᵗ, keep = 1 - rate · decay.
struct AdamWStep {
  double rate, keep, beta1, beta2, eps, correct1, correct2;
};

struct Backend {
  virtual const char* name() const = 0;
  virtual ~Backend();

  // memory
  virtual void* alloc(std::size_t bytes) = 0;  // 64-byte aligned; throws std::bad_alloc
  virtual void free(void*) = 0;
  virtual bool host_readable() const = 0;           // true: the host may read Mat::data directly
  virtual void to_host(Mat from, Mat to) = 0;       // `to` is host memory of the same shape
  virtual void from_host(Mat from, Mat to) = 0;     // `from` is host memory of the same shape
  virtual void upload(const void* host, void* device, std::size_t bytes) = 0;  // ids and masks
  virtual void copy(Mat x, Mat y) = 0;              // y = x
  virtual void fill(Mat y, Real value) = 0;         // y = value
  virtual void poison(void* p, std::size_t bytes) = 0;  // every Real in it becomes NaN (debug builds)

  // elementwise; all operands of one shape
  virtual void add(Mat a, Mat b, Mat y) = 0;
  virtual void sub(Mat a, Mat b, Mat y) = 0;
  virtual void mul(Mat a, Mat b, Mat y) = 0;
  virtual void div(Mat a, Mat b, Mat y) = 0;
  virtual void scale(Mat x, Real s, Mat y) = 0;     // y = s x     y may be x
  virtual void map(Function f, Mat x, Mat y) = 0;       // y = f(x)
  virtual void map_backward(Function f, Mat x, Mat y, Mat dy, Mat dx, bool accumulate) = 0;  // dx += (or =) dy ∘ f'(x), 0 where dy is 0
  virtual void add_scaled(Real s, Mat x, Mat y) = 0;    // y += s x
  virtual void add_product(Mat a, Mat b, Mat y) = 0;    // y += a ∘ b
  // the two halves of y = a / b, each 0 where dy is 0 (a singular slope times no gradient is no gradient)
  virtual void div_backward_left(Mat dy, Mat b, Mat da) = 0;           // da += dy / b
  virtual void div_backward_right(Mat dy, Mat y, Mat b, Mat db) = 0;   // db -= dy ∘ y / b

  virtual void maximum(Mat a, Mat b, Mat y) = 0;        // a tie is a's; a NaN is passed on
  virtual void maximum_backward(Mat a, Mat b, Mat dy, Mat da, Mat db) = 0;  // da or db may be without memory
  virtual void pow(Mat a, Mat b, Mat y) = 0;            // a^b
  virtual void pow_backward_left(Mat a, Mat b, Mat dy, Mat da) = 0;         // da += dy b a^(b-1)
  virtual void pow_backward_right(Mat a, Mat b, Mat y, Mat dy, Mat db) = 0; // db += dy y ln a, 0 for a = 0, b >= 0
  virtual void clamp(Mat x, Real low, Real high, Mat y) = 0;
  virtual void clamp_backward(Mat x, Real low, Real high, Mat dy, Mat dx) = 0;  // dx += dy inside [low, high]
  virtual void bce_logits(Mat x, Mat t, Mat y) = 0;     // y = t softplus(-x) + (1-t) softplus(x), with 0 ∞ = 0
  virtual void bce_logits_backward(Mat x, Mat t, Mat dy, Mat dx) = 0;       // dx += dy (sigmoid(x) - t)
  virtual void dropout(Mat x, double p, std::uint64_t seed, Mat y) = 0;     // y = kept ? x / (1-p) : 0
  virtual void dropout_backward(Mat dy, double p, std::uint64_t seed, Mat dx) = 0;  // the same choice again, added

  // one number against all
  virtual void add_number(Mat x, Real s, Mat y) = 0;    // y = x + s
  virtual void mul_scalar(Mat x, Mat s, Mat y) = 0;     // y_ij = x_ij s, s is 1 x 1
  virtual void add_mul_scalar(Mat x, Mat s, Mat y) = 0; // y_ij += x_ij s
  virtual void add_quotient(Mat a, Mat b, Mat y) = 0;   // y_ij += a_ij / b_ij, 0 where b is 0
  virtual void add_sum(Mat x, Mat y) = 0;               // y is 1 x 1:  y += Σ_ij x_ij
  virtual void add_dot(Mat a, Mat b, Mat y) = 0;        // y is 1 x 1:  y += Σ_ij a_ij b_ij
  virtual void add_scalar(Mat x, Mat s, Mat y) = 0; // y_ij = x_ij + s, s is 1 x 1     y may be x

  // a 1 x C row or an R x 1 column against every row or column of an R x C matrix
  virtual void add_row(Mat x, Mat r, Mat y) = 0;    // y_ij = x_ij + r_j     y may be x
  virtual void add_col(Mat x, Mat c, Mat y) = 0;    // y_ij = x_ij + c_i     y may be x
  virtual void sub_col(Mat x, Mat c, Mat y) = 0;    // y_ij = x_ij - c_i     y may be x
  virtual void div_col(Mat x, Mat c, Mat y) = 0;    // y_ij = x_ij / c_i     y may be x
  virtual void div_col_backward(Mat dy, Mat c, Mat dx) = 0;             // dx_ij += dy_ij / c_i, 0 where dy is 0
  virtual void div_col_backward_col(Mat dy, Mat y, Mat c, Mat dc) = 0;  // dc_i  -= Σ_j dy_ij y_ij / c_i

  virtual void sub_row(Mat x, Mat r, Mat y) = 0;    // y_ij = x_ij - r_j
  virtual void mul_row(Mat x, Mat r, Mat y) = 0;    // y_ij = x_ij r_j
  virtual void div_row(Mat x, Mat r, Mat y) = 0;    // y_ij = x_ij / r_j
  virtual void mul_col(Mat x, Mat c, Mat y) = 0;    // y_ij = x_ij c_i
  virtual void add_mul_row(Mat x, Mat r, Mat y) = 0;    // y_ij += x_ij r_j
  virtual void add_mul_col(Mat x, Mat c, Mat y) = 0;    // y_ij += x_ij c_i
  virtual void div_row_backward(Mat dy, Mat r, Mat dx) = 0;             // dx_ij += dy_ij / r_j, 0 where dy is 0
  virtual void div_row_backward_row(Mat dy, Mat y, Mat r, Mat dr) = 0;  // dr_j  -= Σ_i dy_ij y_ij / r_j

  // reductions, accumulated in double. A row (column) of no elements sums to 0.
  virtual void sum(Mat x, Real s, Mat y) = 0;       // y is 1 x 1:  y = s Σ_ij x_ij
  virtual void add_row_sums(Real s, Mat x, Mat y) = 0;  // y is R x 1:  y_i += s Σ_j x_ij
  virtual void add_col_sums(Real s, Mat x, Mat y) = 0;  // y is 1 x C:  y_j += s Σ_i x_ij
  virtual void add_row_dots(Mat a, Mat b, Mat y) = 0;   // y is R x 1:  y_i += Σ_j a_ij b_ij
  virtual void add_col_dots(Mat a, Mat b, Mat y) = 0;   // y is 1 x C:  y_j += Σ_i a_ij b_ij
  virtual void norm(Mat x, Mat y) = 0;                  // y is 1 x 1:  √(Σ_ij x_ij²)
  // the first maximum, or the first NaN, of each row, each column, or all. where: its place, row · C + column
  virtual void row_max(Mat x, Mat y, Ints where) = 0;
  virtual void col_max(Mat x, Mat y, Ints where) = 0;
  virtual void max(Mat x, Mat y, Ints where) = 0;
  virtual void take_at(Mat x, Ints where, Mat y) = 0;   // entry k of y = the entry of x at place where_k
  virtual void add_at(Mat dy, Ints where, Mat dx) = 0;  // the entry of dx at place where_k += entry k of dy

  // products
  virtual void matmul(Product, Mat a, Mat b, Mat c, bool accumulate) = 0;  // c = (or +=) op(a) op(b)
  virtual void matmul_add_row(Mat a, Mat b, Mat r, Mat c) = 0;  // c_ij = Σ_k a_ik b_kj + r_j

  virtual void transpose(Mat x, Mat y) = 0;             // y_ij = x_ji
  virtual void add_transposed(Mat x, Mat y) = 0;        // y_ij += x_ji
  // X: T x A, W: K A x C, Y: T x C.   Y_t += Σ_k X_(t+k-left) W_k   W_k: rows k A to (k+1) A; outside X is 0
  virtual void conv1d(Mat X, Mat W, int left, Mat Y) = 0;               // overwrites Y
  virtual void conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) = 0;
  virtual void conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) = 0;
  // X: T x C, W: K x C, Y: T x C.   Y_tc = Σ_k X_(t+k-left),c W_kc: each column by itself
  virtual void depthwise_conv1d(Mat X, Mat W, int left, Mat Y) = 0;     // overwrites Y
  virtual void depthwise_conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) = 0;
  virtual void depthwise_conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) = 0;
  // a: n x D, b: m x D, V: m x d_v, Y: n x (d_v + 1).   Y_t = a_t Σ_j b_j [v_j 1]ᵀ over j <= t + m - n - lag, sums in double
  virtual void causal_sums(Mat a, Mat b, Mat V, int lag, Mat Y) = 0;
  // each of da, db, dV may be without memory
  virtual void causal_sums_backward(Mat a, Mat b, Mat V, int lag, Mat dY, Mat da, Mat db, Mat dV) = 0;
  // X, Y: R x C, W: A x B, B odd.   Y_ij += Σ_ab W_ab X_(i-A+1+a, j-(B-1)/2+b)   outside X is 0
  virtual void conv2d_causal(Mat X, Mat W, Mat Y) = 0;                  // overwrites Y
  virtual void conv2d_causal_backward_x(Mat dY, Mat W, Mat dX) = 0;
  virtual void conv2d_causal_backward_w(Mat X, Mat dY, Mat dW) = 0;

  // norms of each row, in double inside: y = (x - mean) rstd ∘ gain + bias, rstd = 1 / √(variance + eps)
  virtual void layer_norm(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) = 0;
  // each gradient may be without memory. accumulate: dx +=, or =; dgain and dbias are always added to
  virtual void layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias, bool accumulate) = 0;
  virtual void rms_norm(Mat x, Mat gain, double eps, Mat rrms, Mat y) = 0;  // y = x rrms ∘ gain, rrms = 1 / √(mean x² + eps)
  virtual void rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain, bool accumulate) = 0;

  // losses. Targets are class numbers; a row whose target is `ignore` does not count.
  virtual void cross_entropy(Mat x, Ints targets, int ignore, double smoothing, Mat P, Mat y) = 0;  // P = softmax(x)
  virtual void cross_entropy_backward(Mat P, Ints targets, int ignore, double smoothing, Mat dy, Mat dx, bool accumulate) = 0;
  virtual void kl(Mat p, Mat log_q, Mat y) = 0;         // y_i = Σ_j p_ij (ln p_ij - log_q_ij), with 0 · anything = 0
  virtual void kl_backward(Mat p, Mat dy, Mat dlog_q) = 0;  // dlog_q_ij -= p_ij dy_i

  virtual void log_sum_exp(Mat x, Mat y) = 0;           // y_i = ln Σ_j e^(x_ij); -inf for a row of -inf
  virtual void log_sum_exp_backward(Mat x, Mat dy, Mat dx) = 0;  // dx_ij += e^(x_ij - lse_i) dy_i
  virtual void log_softmax_rows(Mat x, Mat y) = 0;      // y_ij = x_ij - ln Σ_k e^(x_ik)
  virtual void log_softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) = 0;  // dx_ij += (or =) dy_ij - e^(y_ij) Σ_k dy_ik

  // softmax of each row; a row that is all -inf gives a row of zeros.   y may be x
  virtual void softmax_rows(Mat x, Mat y) = 0;
  virtual void softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) = 0;  // dx_ij += (or =) y_ij (dy_ij - Σ_k y_ik dy_ik)

  // weights with exact zeros, each row: max(x - τ, 0), and g = max(x / 2 - τ, 0), whose squares sum to 1. support: 1 where
  // the entry is above τ; written if `decide`, else kept. A row that is all -inf gives zeros, +inf or NaN a row of NaN.
  virtual void sparsemax_rows(Mat x, bool decide, Mat support, Mat y) = 0;
  virtual void entmax15_rows(Mat x, bool decide, Mat support, Mat g) = 0;
  virtual void weighted_mean_backward(Mat g, Mat dy, Mat dx) = 0;  // dx_ij += g_ij (dy_ij - Σ_k g_ik dy_ik / Σ_k g_ik)
  // attention tile by tile. S: scratch for one tile; state: scratch, tile queries x 2; counts: 1 x 2, tiles visited and rescalings
  // (by a kernel that has tiles of its own: those)
  virtual void flash_attention(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat S, Mat state, Mat Y, Mat L, Mat counts) = 0;
  // D = rowsum(dY ∘ Y) - dL for each head, as many columns as L. dQ, dK, dV: added to or overwritten, as accumulate[0], [1], [2] say;
  // each may be without memory, and dL too
  virtual void flash_attention_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat Y, Mat L, Mat dY, Mat dL, Mat D, Mat S, Mat dQ, Mat dK, Mat dV, const bool* accumulate) = 0;

  // selection by a mask: no product, so a NaN that is not taken stays out.   y may be x
  virtual void select(Mat x, Keep keep, Real other, Mat y) = 0;   // y = keep ? x : other
  virtual void add_selected(Mat dy, Keep keep, Mat dx) = 0;       // dx += keep ? dy : 0
  virtual void choose(Mat a, Mat b, Keep keep, Mat y) = 0;        // y = keep ? a : b
  virtual void add_unselected(Mat dy, Keep keep, Mat dx) = 0;     // dx += keep ? 0 : dy
  // chosen_ij: x_ij is one of the k largest of row i. Ties: the first. A NaN is the largest, -inf is never chosen.
  virtual void top_k(Mat x, int k, Keep chosen) = 0;
  // rows of x are keys; keep is queries x keys. A key that no query may use is left out.
  virtual void select_seen(Mat x, Keep keep, Mat y) = 0;          // y_j = (any keep_ij) ? x_j : 0
  virtual void add_seen(Mat dy, Keep keep, Mat dx) = 0;           // dx_j += (any keep_ij) ? dy_j : 0

  // rows of a table by index
  virtual void gather_rows(Mat table, Ints ids, Mat y) = 0;       // y_i = table_(ids_i)
  virtual void scatter_rows(Mat dy, Ints ids, Mat dtable) = 0;    // dtable_(ids_i) += dy_i

  // the optimiser: m ← β₁ m + (1 - β₁) g, v ← β₂ v + (1 - β₂) g², w ← keep w - rate m̂ / (√v̂ + eps)
  virtual void adamw(Mat g, const AdamWStep&, Mat m, Mat v, Mat w) = 0;

  // pairs of channels turned by their position: (a, b) becomes (a cos - b sin, a sin + b cos); the other channels stay
  virtual void rotate(Mat x, const Rotary&, Mat y) = 0;           // y = x, turned
  virtual void rotate_back(Mat dy, const Rotary&, Mat dx) = 0;    // dx += dy, turned back
  // lists of pairs: row i of one matrix with row j of another, for the listed (i, j) only. e: a number for each pair
  virtual void pair_dots(Mat a, Mat b, PairList, Real s, Mat e) = 0;       // e_ij = s a_i · b_j
  virtual void pair_softmax(Mat e, PairList, Mat a) = 0;                   // over the pairs of each i.   a may be e
  virtual void pair_softmax_backward(Mat a, Mat da, PairList, Mat de) = 0;  // de_ij = a_ij (da_ij - Σ_l a_il da_il)
  virtual void add_pair_rows(Real s, Mat e, PairList, Mat b, Mat y) = 0;   // y_i += s Σ_j e_ij b_j
  virtual void add_pair_cols(Real s, Mat e, PairList, Mat a, Mat y) = 0;   // y_j += s Σ_i e_ij a_i
  virtual void spread_pairs(Mat e, PairList, Mat y) = 0;                   // y_ij = e_ij, 0 for every other pair
};

Backend& cpu_backend();            // plain loops, unless choose_cpu() said otherwise
void choose_cpu(Backend&);         // what cpu_backend() means from here on: engine/cpu/fast.h

// The same numbers, where the host can read them: the matrix itself, or a copy if it lives on a device.
class HostView {
 public:
  HostView(Backend& be, Mat m) : view_(m) {
    if (be.host_readable()) return;
    copy_ = Matrix(m.shape());
    be.to_host(m, copy_);
    view_ = copy_;
  }
  operator Mat() const { return view_; }
  Real operator()(int r, int c) const { return view_(r, c); }

 private:
  Matrix copy_;
  Mat view_;
};
Backend* cuda_backend();     // nullptr when not built or no device
const char* cuda_problem();  // why it is nullptr; "" if it is not

}  // namespace GLASS_PRECISION
}  // namespace glass
