// The CUDA backend, float only: what each kernel computes is said once, in engine/backend.h. The kernels are in
// kernels/*.cu, each written once: nvcc builds them for a GPU, the plain C++ compiler for the CPU (on_cpu/).
#pragma once

#include <cuda_runtime.h>

#include "engine/backend.h"
#include "engine/cuda/pool.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct CudaBackend final : Backend {
  // host_sees: memory that the host can read and write where it lies (unified memory), every kernel waited for: what
  // lessons use, so that each number can be shown at once. Otherwise memory of the device alone, and every copy is
  // explicit.
  explicit CudaBackend(bool host_sees = false);
  const char* name() const override;
  void* alloc(std::size_t bytes) override;
  void free(void*) override;
  bool host_readable() const override;
  void to_host(Mat from, Mat to) override;
  void from_host(Mat from, Mat to) override;
  void upload(const void* host, void* device, std::size_t bytes) override;
  void copy(Mat x, Mat y) override;
  void fill(Mat y, Real value) override;
  void poison(void* p, std::size_t bytes) override;
  void add(Mat a, Mat b, Mat y) override;
  void sub(Mat a, Mat b, Mat y) override;
  void mul(Mat a, Mat b, Mat y) override;
  void div(Mat a, Mat b, Mat y) override;
  void scale(Mat x, Real s, Mat y) override;
  void map(Function f, Mat x, Mat y) override;
  void map_backward(Function f, Mat x, Mat y, Mat dy, Mat dx) override;
  void add_scaled(Real s, Mat x, Mat y) override;
  void add_product(Mat a, Mat b, Mat y) override;
  void div_backward_left(Mat dy, Mat b, Mat da) override;
  void div_backward_right(Mat dy, Mat y, Mat b, Mat db) override;
  void maximum(Mat a, Mat b, Mat y) override;
  void maximum_backward(Mat a, Mat b, Mat dy, Mat da, Mat db) override;
  void pow(Mat a, Mat b, Mat y) override;
  void pow_backward_left(Mat a, Mat b, Mat dy, Mat da) override;
  void pow_backward_right(Mat a, Mat b, Mat y, Mat dy, Mat db) override;
  void clamp(Mat x, Real low, Real high, Mat y) override;
  void clamp_backward(Mat x, Real low, Real high, Mat dy, Mat dx) override;
  void bce_logits(Mat x, Mat t, Mat y) override;
  void bce_logits_backward(Mat x, Mat t, Mat dy, Mat dx) override;
  void dropout(Mat x, double p, std::uint64_t seed, Mat y) override;
  void dropout_backward(Mat dy, double p, std::uint64_t seed, Mat dx) override;
  void add_number(Mat x, Real s, Mat y) override;
  void mul_scalar(Mat x, Mat s, Mat y) override;
  void add_mul_scalar(Mat x, Mat s, Mat y) override;
  void add_quotient(Mat a, Mat b, Mat y) override;
  void add_sum(Mat x, Mat y) override;
  void add_dot(Mat a, Mat b, Mat y) override;
  void add_scalar(Mat x, Mat s, Mat y) override;
  void add_row(Mat x, Mat r, Mat y) override;
  void add_col(Mat x, Mat c, Mat y) override;
  void sub_col(Mat x, Mat c, Mat y) override;
  void div_col(Mat x, Mat c, Mat y) override;
  void div_col_backward(Mat dy, Mat c, Mat dx) override;
  void div_col_backward_col(Mat dy, Mat y, Mat c, Mat dc) override;
  void sub_row(Mat x, Mat r, Mat y) override;
  void mul_row(Mat x, Mat r, Mat y) override;
  void div_row(Mat x, Mat r, Mat y) override;
  void mul_col(Mat x, Mat c, Mat y) override;
  void add_mul_row(Mat x, Mat r, Mat y) override;
  void add_mul_col(Mat x, Mat c, Mat y) override;
  void div_row_backward(Mat dy, Mat r, Mat dx) override;
  void div_row_backward_row(Mat dy, Mat y, Mat r, Mat dr) override;
  void sum(Mat x, Real s, Mat y) override;
  void add_row_sums(Real s, Mat x, Mat y) override;
  void add_col_sums(Real s, Mat x, Mat y) override;
  void add_row_dots(Mat a, Mat b, Mat y) override;
  void add_col_dots(Mat a, Mat b, Mat y) override;
  void norm(Mat x, Mat y) override;
  void row_max(Mat x, Mat y, Ints where) override;
  void col_max(Mat x, Mat y, Ints where) override;
  void max(Mat x, Mat y, Ints where) override;
  void take_at(Mat x, Ints where, Mat y) override;
  void add_at(Mat dy, Ints where, Mat dx) override;
  void matmul(Product, Mat a, Mat b, Mat c, bool accumulate) override;
  void matmul_add_row(Mat a, Mat b, Mat r, Mat c) override;
  void transpose(Mat x, Mat y) override;
  void add_transposed(Mat x, Mat y) override;
  void conv1d(Mat X, Mat W, int left, Mat Y) override;
  void conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) override;
  void conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) override;
  void depthwise_conv1d(Mat X, Mat W, int left, Mat Y) override;
  void depthwise_conv1d_backward_x(Mat dY, Mat W, int left, Mat dX) override;
  void depthwise_conv1d_backward_w(Mat X, Mat dY, int left, Mat dW) override;
  void causal_sums(Mat a, Mat b, Mat V, int lag, Mat Y) override;
  void causal_sums_backward(Mat a, Mat b, Mat V, int lag, Mat dY, Mat da, Mat db, Mat dV) override;
  void conv2d_causal(Mat X, Mat W, Mat Y) override;
  void conv2d_causal_backward_x(Mat dY, Mat W, Mat dX) override;
  void conv2d_causal_backward_w(Mat X, Mat dY, Mat dW) override;
  void layer_norm(Mat x, Mat gain, Mat bias, double eps, Mat rstd, Mat y) override;
  void layer_norm_backward(Mat x, Mat gain, Mat rstd, Mat dy, Mat dx, Mat dgain, Mat dbias) override;
  void rms_norm(Mat x, Mat gain, double eps, Mat rrms, Mat y) override;
  void rms_norm_backward(Mat x, Mat gain, Mat rrms, Mat dy, Mat dx, Mat dgain) override;
  void cross_entropy(Mat x, Ints targets, int ignore, double smoothing, Mat P, Mat y) override;
  void cross_entropy_backward(Mat P, Ints targets, int ignore, double smoothing, Mat dy, Mat dx) override;
  void kl(Mat p, Mat log_q, Mat y) override;
  void kl_backward(Mat p, Mat dy, Mat dlog_q) override;
  void log_sum_exp(Mat x, Mat y) override;
  void log_sum_exp_backward(Mat x, Mat dy, Mat dx) override;
  void log_softmax_rows(Mat x, Mat y) override;
  void log_softmax_rows_backward(Mat y, Mat dy, Mat dx) override;
  void softmax_rows(Mat x, Mat y) override;
  void softmax_rows_backward(Mat y, Mat dy, Mat dx) override;
  void sparsemax_rows(Mat x, bool decide, Mat support, Mat y) override;
  void entmax15_rows(Mat x, bool decide, Mat support, Mat g) override;
  void weighted_mean_backward(Mat g, Mat dy, Mat dx) override;
  void flash_attention(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat S, Mat state, Mat Y, Mat L,
                       Mat counts) override;
  void flash_attention_backward(Mat Q, Mat K, Mat V, Real scale, const Tiling&, Mat Y, Mat L, Mat dY, Mat dL, Mat D,
                                Mat S, Mat dQ, Mat dK, Mat dV) override;
  void select(Mat x, Keep keep, Real other, Mat y) override;
  void add_selected(Mat dy, Keep keep, Mat dx) override;
  void choose(Mat a, Mat b, Keep keep, Mat y) override;
  void add_unselected(Mat dy, Keep keep, Mat dx) override;
  void top_k(Mat x, int k, Keep chosen) override;
  void select_seen(Mat x, Keep keep, Mat y) override;
  void add_seen(Mat dy, Keep keep, Mat dx) override;
  void gather_rows(Mat table, Ints ids, Mat y) override;
  void scatter_rows(Mat dy, Ints ids, Mat dtable) override;
  void adamw(Mat g, const AdamWStep&, Mat m, Mat v, Mat w) override;
  void rotate(Mat x, const Rotary&, Mat y) override;
  void rotate_back(Mat dy, const Rotary&, Mat dx) override;
  void pair_dots(Mat a, Mat b, PairList, Real s, Mat e) override;
  void pair_softmax(Mat e, PairList, Mat a) override;
  void pair_softmax_backward(Mat a, Mat da, PairList, Mat de) override;
  void add_pair_rows(Real s, Mat e, PairList, Mat b, Mat y) override;
  void add_pair_cols(Real s, Mat e, PairList, Mat a, Mat y) override;
  void spread_pairs(Mat e, PairList, Mat y) override;

  Stream stream;  // every kernel and copy of this backend runs on it, in order
  Pool pool;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
