// The kernel interface: everything an op may ask of a device. engine/cpu implements it in plain loops,
// engine/cuda on a GPU. A kernel that is pure virtual here is demanded of every backend by the compiler.
//
// Conventions. Shapes are checked by the ops, not here. Every Mat may be a view (ld > cols).
// "y = ..." overwrites and never reads y; "y += ..." adds. An output is never the memory of an input,
// except where said.
#pragma once

#include <cstddef>

#include "engine/mat.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Which operands of a product are read transposed. NN: A B,  NT: A B^T,  TN: A^T B.
enum class Product { NN, NT, TN };

struct Backend {
  virtual const char* name() const = 0;
  virtual ~Backend() = default;

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
  virtual void scale(Mat x, Real s, Mat y) = 0;     // y = s x
  virtual void exp(Mat x, Mat y) = 0;
  virtual void add_scaled(Real s, Mat x, Mat y) = 0;    // y += s x
  virtual void add_product(Mat a, Mat b, Mat y) = 0;    // y += a ∘ b
  // the two halves of y = a / b, each 0 where dy is 0 (a singular slope times no gradient is no gradient)
  virtual void div_backward_left(Mat dy, Mat b, Mat da) = 0;           // da += dy / b
  virtual void div_backward_right(Mat dy, Mat y, Mat b, Mat db) = 0;   // db -= dy ∘ y / b

  virtual void add_scalar(Mat x, Mat s, Mat y) = 0; // y_ij = x_ij + s, s is 1 x 1     y may be x

  // a 1 x C row or an R x 1 column against every row or column of an R x C matrix
  virtual void add_row(Mat x, Mat r, Mat y) = 0;    // y_ij = x_ij + r_j     y may be x
  virtual void add_col(Mat x, Mat c, Mat y) = 0;    // y_ij = x_ij + c_i     y may be x
  virtual void sub_col(Mat x, Mat c, Mat y) = 0;    // y_ij = x_ij - c_i     y may be x
  virtual void div_col(Mat x, Mat c, Mat y) = 0;    // y_ij = x_ij / c_i     y may be x
  virtual void div_col_backward(Mat dy, Mat c, Mat dx) = 0;             // dx_ij += dy_ij / c_i, 0 where dy is 0
  virtual void div_col_backward_col(Mat dy, Mat y, Mat c, Mat dc) = 0;  // dc_i  -= Σ_j dy_ij y_ij / c_i

  // reductions, accumulated in double. A row (column) of no elements sums to 0.
  virtual void sum(Mat x, Real s, Mat y) = 0;       // y is 1 x 1:  y = s Σ_ij x_ij
  virtual void add_row_sums(Real s, Mat x, Mat y) = 0;  // y is R x 1:  y_i += s Σ_j x_ij
  virtual void add_col_sums(Real s, Mat x, Mat y) = 0;  // y is 1 x C:  y_j += s Σ_i x_ij
  virtual void row_max(Mat x, Mat y, Ints where) = 0;   // y_i = x_ik, k = where_i: the first maximum, or the first NaN
  virtual void take_at(Mat x, Ints where, Mat y) = 0;   // y_i = x_ik, k = where_i
  virtual void add_at(Mat dy, Ints where, Mat dx) = 0;  // dx_ik += dy_i, k = where_i

  // products
  virtual void matmul(Product, Mat a, Mat b, Mat c, bool accumulate) = 0;  // c = (or +=) op(a) op(b)

  // softmax of each row; a row that is all -inf gives a row of zeros.   y may be x
  virtual void softmax_rows(Mat x, Mat y) = 0;
  virtual void softmax_rows_backward(Mat y, Mat dy, Mat dx) = 0;  // dx_ij += y_ij (dy_ij - Σ_k y_ik dy_ik)

  // selection by a mask: no product, so a NaN that is not taken stays out.   y may be x
  virtual void select(Mat x, Keep keep, Real other, Mat y) = 0;   // y = keep ? x : other
  virtual void add_selected(Mat dy, Keep keep, Mat dx) = 0;       // dx += keep ? dy : 0
  // rows of x are keys; keep is queries x keys. A key that no query may use is left out.
  virtual void select_seen(Mat x, Keep keep, Mat y) = 0;          // y_j = (any keep_ij) ? x_j : 0
  virtual void add_seen(Mat dy, Keep keep, Mat dx) = 0;           // dx_j += (any keep_ij) ? dy_j : 0

  // rows of a table by index
  virtual void gather_rows(Mat table, Ints ids, Mat y) = 0;       // y_i = table_(ids_i)
  virtual void scatter_rows(Mat dy, Ints ids, Mat dtable) = 0;    // dtable_(ids_i) += dy_i
};

Backend& cpu_backend();

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
Backend* cuda_backend();  // nullptr when not built or no device

}  // namespace GLASS_PRECISION
}  // namespace glass
