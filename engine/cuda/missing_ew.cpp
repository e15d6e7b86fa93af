// Kernels that are still to be written: each throws.
#include "engine/cuda/check.h"
#include "engine/cuda/cuda.h"

namespace glass {
inline namespace GLASS_PRECISION {

void CudaBackend::add(Mat, Mat, Mat) { throw CudaError("add is not there yet"); }
void CudaBackend::sub(Mat, Mat, Mat) { throw CudaError("sub is not there yet"); }
void CudaBackend::mul(Mat, Mat, Mat) { throw CudaError("mul is not there yet"); }
void CudaBackend::div(Mat, Mat, Mat) { throw CudaError("div is not there yet"); }
void CudaBackend::scale(Mat, Real, Mat) { throw CudaError("scale is not there yet"); }
void CudaBackend::map(Function, Mat, Mat) { throw CudaError("map is not there yet"); }
void CudaBackend::map_backward(Function, Mat, Mat, Mat, Mat, bool) { throw CudaError("map_backward is not there yet"); }
void CudaBackend::add_scaled(Real, Mat, Mat) { throw CudaError("add_scaled is not there yet"); }
void CudaBackend::add_product(Mat, Mat, Mat) { throw CudaError("add_product is not there yet"); }
void CudaBackend::div_backward_left(Mat, Mat, Mat) { throw CudaError("div_backward_left is not there yet"); }
void CudaBackend::div_backward_right(Mat, Mat, Mat, Mat) { throw CudaError("div_backward_right is not there yet"); }
void CudaBackend::maximum(Mat, Mat, Mat) { throw CudaError("maximum is not there yet"); }
void CudaBackend::maximum_backward(Mat, Mat, Mat, Mat, Mat) { throw CudaError("maximum_backward is not there yet"); }
void CudaBackend::pow(Mat, Mat, Mat) { throw CudaError("pow is not there yet"); }
void CudaBackend::pow_backward_left(Mat, Mat, Mat, Mat) { throw CudaError("pow_backward_left is not there yet"); }
void CudaBackend::pow_backward_right(Mat, Mat, Mat, Mat, Mat) {
  throw CudaError("pow_backward_right is not there yet");
}
void CudaBackend::clamp(Mat, Real, Real, Mat) { throw CudaError("clamp is not there yet"); }
void CudaBackend::clamp_backward(Mat, Real, Real, Mat, Mat) { throw CudaError("clamp_backward is not there yet"); }
void CudaBackend::bce_logits(Mat, Mat, Mat) { throw CudaError("bce_logits is not there yet"); }
void CudaBackend::bce_logits_backward(Mat, Mat, Mat, Mat) { throw CudaError("bce_logits_backward is not there yet"); }
void CudaBackend::dropout(Mat, double, std::uint64_t, Mat) { throw CudaError("dropout is not there yet"); }
void CudaBackend::dropout_backward(Mat, double, std::uint64_t, Mat) {
  throw CudaError("dropout_backward is not there yet");
}
void CudaBackend::add_number(Mat, Real, Mat) { throw CudaError("add_number is not there yet"); }
void CudaBackend::mul_scalar(Mat, Mat, Mat) { throw CudaError("mul_scalar is not there yet"); }
void CudaBackend::add_mul_scalar(Mat, Mat, Mat) { throw CudaError("add_mul_scalar is not there yet"); }
void CudaBackend::add_quotient(Mat, Mat, Mat) { throw CudaError("add_quotient is not there yet"); }
void CudaBackend::add_sum(Mat, Mat) { throw CudaError("add_sum is not there yet"); }
void CudaBackend::add_dot(Mat, Mat, Mat) { throw CudaError("add_dot is not there yet"); }
void CudaBackend::add_scalar(Mat, Mat, Mat) { throw CudaError("add_scalar is not there yet"); }
void CudaBackend::add_row(Mat, Mat, Mat) { throw CudaError("add_row is not there yet"); }
void CudaBackend::add_col(Mat, Mat, Mat) { throw CudaError("add_col is not there yet"); }
void CudaBackend::sub_col(Mat, Mat, Mat) { throw CudaError("sub_col is not there yet"); }
void CudaBackend::div_col(Mat, Mat, Mat) { throw CudaError("div_col is not there yet"); }
void CudaBackend::div_col_backward(Mat, Mat, Mat) { throw CudaError("div_col_backward is not there yet"); }
void CudaBackend::div_col_backward_col(Mat, Mat, Mat, Mat) { throw CudaError("div_col_backward_col is not there yet"); }
void CudaBackend::sub_row(Mat, Mat, Mat) { throw CudaError("sub_row is not there yet"); }
void CudaBackend::mul_row(Mat, Mat, Mat) { throw CudaError("mul_row is not there yet"); }
void CudaBackend::div_row(Mat, Mat, Mat) { throw CudaError("div_row is not there yet"); }
void CudaBackend::mul_col(Mat, Mat, Mat) { throw CudaError("mul_col is not there yet"); }
void CudaBackend::add_mul_row(Mat, Mat, Mat) { throw CudaError("add_mul_row is not there yet"); }
void CudaBackend::add_mul_col(Mat, Mat, Mat) { throw CudaError("add_mul_col is not there yet"); }
void CudaBackend::div_row_backward(Mat, Mat, Mat) { throw CudaError("div_row_backward is not there yet"); }
void CudaBackend::div_row_backward_row(Mat, Mat, Mat, Mat) { throw CudaError("div_row_backward_row is not there yet"); }
void CudaBackend::sum(Mat, Real, Mat) { throw CudaError("sum is not there yet"); }
void CudaBackend::add_row_sums(Real, Mat, Mat) { throw CudaError("add_row_sums is not there yet"); }
void CudaBackend::add_col_sums(Real, Mat, Mat) { throw CudaError("add_col_sums is not there yet"); }
void CudaBackend::add_row_dots(Mat, Mat, Mat) { throw CudaError("add_row_dots is not there yet"); }
void CudaBackend::add_col_dots(Mat, Mat, Mat) { throw CudaError("add_col_dots is not there yet"); }
void CudaBackend::norm(Mat, Mat) { throw CudaError("norm is not there yet"); }
void CudaBackend::row_max(Mat, Mat, Ints) { throw CudaError("row_max is not there yet"); }
void CudaBackend::col_max(Mat, Mat, Ints) { throw CudaError("col_max is not there yet"); }
void CudaBackend::max(Mat, Mat, Ints) { throw CudaError("max is not there yet"); }
void CudaBackend::take_at(Mat, Ints, Mat) { throw CudaError("take_at is not there yet"); }
void CudaBackend::add_at(Mat, Ints, Mat) { throw CudaError("add_at is not there yet"); }
void CudaBackend::transpose(Mat, Mat) { throw CudaError("transpose is not there yet"); }
void CudaBackend::add_transposed(Mat, Mat) { throw CudaError("add_transposed is not there yet"); }
void CudaBackend::select(Mat, Keep, Real, Mat) { throw CudaError("select is not there yet"); }
void CudaBackend::add_selected(Mat, Keep, Mat) { throw CudaError("add_selected is not there yet"); }
void CudaBackend::choose(Mat, Mat, Keep, Mat) { throw CudaError("choose is not there yet"); }
void CudaBackend::add_unselected(Mat, Keep, Mat) { throw CudaError("add_unselected is not there yet"); }
void CudaBackend::top_k(Mat, int, Keep) { throw CudaError("top_k is not there yet"); }
void CudaBackend::select_seen(Mat, Keep, Mat) { throw CudaError("select_seen is not there yet"); }
void CudaBackend::add_seen(Mat, Keep, Mat) { throw CudaError("add_seen is not there yet"); }
void CudaBackend::gather_rows(Mat, Ints, Mat) { throw CudaError("gather_rows is not there yet"); }
void CudaBackend::scatter_rows(Mat, Ints, Mat) { throw CudaError("scatter_rows is not there yet"); }
void CudaBackend::adamw(Mat, const AdamWStep&, Mat, Mat, Mat) { throw CudaError("adamw is not there yet"); }
void CudaBackend::rotate(Mat, const Rotary&, Mat) { throw CudaError("rotate is not there yet"); }
void CudaBackend::rotate_back(Mat, const Rotary&, Mat) { throw CudaError("rotate_back is not there yet"); }
void CudaBackend::pair_dots(Mat, Mat, PairList, Real, Mat) { throw CudaError("pair_dots is not there yet"); }
void CudaBackend::pair_softmax(Mat, PairList, Mat) { throw CudaError("pair_softmax is not there yet"); }
void CudaBackend::pair_softmax_backward(Mat, Mat, PairList, Mat) {
  throw CudaError("pair_softmax_backward is not there yet");
}
void CudaBackend::add_pair_rows(Real, Mat, PairList, Mat, Mat) { throw CudaError("add_pair_rows is not there yet"); }
void CudaBackend::add_pair_cols(Real, Mat, PairList, Mat, Mat) { throw CudaError("add_pair_cols is not there yet"); }
void CudaBackend::spread_pairs(Mat, PairList, Mat) { throw CudaError("spread_pairs is not there yet"); }

}  // namespace GLASS_PRECISION
}  // namespace glass
