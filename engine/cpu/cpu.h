// The CPU backend in plain loops: the slow, clear twin that every other kernel is checked against.
// The kernels are grouped by what they do: elementwise.cpp, broadcast.cpp, reduce.cpp, matmul.cpp,
// softmax.cpp, select.cpp, gather.cpp; memory is in memory.cpp.
#pragma once

#include "engine/backend.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct CpuBackend final : Backend {
  const char* name() const override { return "cpu"; }
  void* alloc(std::size_t bytes) override;
  void free(void*) override;
  bool host_readable() const override { return true; }
  void to_host(Mat from, Mat to) override { copy(from, to); }
  void from_host(Mat from, Mat to) override { copy(from, to); }
  void upload(const void* host, void* device, std::size_t bytes) override;
  void copy(Mat x, Mat y) override;
  void fill(Mat y, Real value) override;
  void poison(void* p, std::size_t bytes) override;

  void add(Mat a, Mat b, Mat y) override;
  void sub(Mat a, Mat b, Mat y) override;
  void mul(Mat a, Mat b, Mat y) override;
  void div(Mat a, Mat b, Mat y) override;
  void scale(Mat x, Real s, Mat y) override;
  void exp(Mat x, Mat y) override;
  void add_scaled(Real s, Mat x, Mat y) override;
  void add_product(Mat a, Mat b, Mat y) override;
  void div_backward_left(Mat dy, Mat b, Mat da) override;
  void div_backward_right(Mat dy, Mat y, Mat b, Mat db) override;

  void add_scalar(Mat x, Mat s, Mat y) override;
  void add_row(Mat x, Mat r, Mat y) override;
  void add_col(Mat x, Mat c, Mat y) override;
  void sub_col(Mat x, Mat c, Mat y) override;
  void div_col(Mat x, Mat c, Mat y) override;
  void div_col_backward(Mat dy, Mat c, Mat dx) override;
  void div_col_backward_col(Mat dy, Mat y, Mat c, Mat dc) override;

  void sum(Mat x, Real s, Mat y) override;
  void add_row_sums(Real s, Mat x, Mat y) override;
  void add_col_sums(Real s, Mat x, Mat y) override;
  void row_max(Mat x, Mat y, Ints where) override;
  void take_at(Mat x, Ints where, Mat y) override;
  void add_at(Mat dy, Ints where, Mat dx) override;

  void matmul(Product, Mat a, Mat b, Mat c, bool accumulate) override;

  void softmax_rows(Mat x, Mat y) override;
  void softmax_rows_backward(Mat y, Mat dy, Mat dx) override;

  void select(Mat x, Keep keep, Real other, Mat y) override;
  void add_selected(Mat dy, Keep keep, Mat dx) override;
  void select_seen(Mat x, Keep keep, Mat y) override;
  void add_seen(Mat dy, Keep keep, Mat dx) override;

  void gather_rows(Mat table, Ints ids, Mat y) override;
  void scatter_rows(Mat dy, Ints ids, Mat dtable) override;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
