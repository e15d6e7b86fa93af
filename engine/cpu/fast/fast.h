// The fast kernels. Each file opens with its idea; the formulas and the shapes are those of the plain twin, engine/cpu/NAME.cpp.
//
// Every source in this folder is compiled once for each width of vector registers, 16, 32 and 64 bytes, into a namespace of its
// own (v16, v32, v64). Which of them runs is decided once, at the start, by what the processor can do: fast_cpu().
//
// Nothing here may leave an inline function behind that the linker could share with code for an older processor: what is used
// of other headers is plain data and pointers, and everything else is static or in the namespace (tests/fast_symbols.sh looks).
#pragma once

#include "engine/cpu/cpu.h"

namespace glass {
inline namespace GLASS_PRECISION {
namespace GLASS_VECTOR {

struct FastCpu final : CpuBackend {
  const char* name() const override;

  // elementwise.cpp
  void copy(Mat x, Mat y) override;
  void fill(Mat y, Real value) override;
  void add(Mat a, Mat b, Mat y) override;
  void sub(Mat a, Mat b, Mat y) override;
  void mul(Mat a, Mat b, Mat y) override;
  void div(Mat a, Mat b, Mat y) override;
  void scale(Mat x, Real s, Mat y) override;
  void add_number(Mat x, Real s, Mat y) override;
  void add_scalar(Mat x, Mat s, Mat y) override;
  void add_scaled(Real s, Mat x, Mat y) override;
  void add_product(Mat a, Mat b, Mat y) override;
  void add_quotient(Mat a, Mat b, Mat y) override;
  void div_backward_left(Mat dy, Mat b, Mat da) override;
  void div_backward_right(Mat dy, Mat y, Mat b, Mat db) override;

  // broadcast.cpp
  void add_row(Mat x, Mat r, Mat y) override;
  void sub_row(Mat x, Mat r, Mat y) override;
  void mul_row(Mat x, Mat r, Mat y) override;
  void div_row(Mat x, Mat r, Mat y) override;
  void add_mul_row(Mat x, Mat r, Mat y) override;
  void div_row_backward(Mat dy, Mat r, Mat dx) override;
  void add_col(Mat x, Mat c, Mat y) override;
  void sub_col(Mat x, Mat c, Mat y) override;
  void mul_col(Mat x, Mat c, Mat y) override;
  void div_col(Mat x, Mat c, Mat y) override;
  void add_mul_col(Mat x, Mat c, Mat y) override;
  void div_col_backward(Mat dy, Mat c, Mat dx) override;

  // reduce.cpp
  void sum(Mat x, Real s, Mat y) override;
  void add_sum(Mat x, Mat y) override;
  void add_dot(Mat a, Mat b, Mat y) override;
  void norm(Mat x, Mat y) override;
  void add_row_sums(Real s, Mat x, Mat y) override;
  void add_row_dots(Mat a, Mat b, Mat y) override;
  void add_col_sums(Real s, Mat x, Mat y) override;
  void add_col_dots(Mat a, Mat b, Mat y) override;

  // select.cpp, dropout.cpp, move.cpp, adamw.cpp
  void select(Mat x, Keep keep, Real other, Mat y) override;
  void choose(Mat a, Mat b, Keep keep, Mat y) override;
  void add_selected(Mat dy, Keep keep, Mat dx) override;
  void add_unselected(Mat dy, Keep keep, Mat dx) override;
  void dropout(Mat x, double p, std::uint64_t seed, Mat y) override;
  void dropout_backward(Mat dy, double p, std::uint64_t seed, Mat dx) override;
  void transpose(Mat x, Mat y) override;
  void add_transposed(Mat x, Mat y) override;
  void gather_rows(Mat table, Ints ids, Mat y) override;
  void scatter_rows(Mat dy, Ints ids, Mat dtable) override;
  void adamw(Mat g, const AdamWStep&, Mat m, Mat v, Mat w) override;

  void matmul(Product, Mat a, Mat b, Mat c, bool accumulate) override;
  void matmul_add_row(Mat a, Mat b, Mat r, Mat c) override;
  void softmax_rows(Mat x, Mat y) override;
  void softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) override;
  void log_sum_exp(Mat x, Mat y) override;
  void log_sum_exp_backward(Mat x, Mat dy, Mat dx) override;
  void log_softmax_rows(Mat x, Mat y) override;
  void log_softmax_rows_backward(Mat y, Mat dy, Mat dx, bool accumulate) override;
  void cross_entropy(Mat x, Ints targets, int ignore, double smoothing, Mat P, Mat y) override;
  void cross_entropy_backward(Mat P, Ints targets, int ignore, double smoothing, Mat dy, Mat dx, bool accumulate) override;
  void layer_norm(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) override;
  void layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias, bool accumulate) override;
  void rms_norm(Mat x, Mat gain, double eps, Mat rrms, Mat y) override;
  void rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain, bool accumulate) override;
  void map(Function f, Mat x, Mat y) override;
  void map_backward(Function f, Mat x, Mat y, Mat dy, Mat dx, bool accumulate) override;
  void rotate(Mat x, const Rotary&, Mat y) override;
  void rotate_back(Mat dy, const Rotary&, Mat dx) override;
  void flash_attention(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat S, Mat state, Mat Y, Mat L, Mat counts) override;
  void flash_attention_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat Y, Mat L, Mat dY, Mat dL, Mat D, Mat S, Mat dQ, Mat dK, Mat dV, const bool* accumulate) override;
};

Backend& backend();

}  // namespace GLASS_VECTOR
}  // namespace GLASS_PRECISION
}  // namespace glass
