#include <cmath>

#include "engine/recompute.h"
#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Var build_pow(const Var* x) { return pow(x[0], x[1]); }
static Var build_maximum(const Var* x) { return maximum(x[0], x[1]); }

static Var build_add_number(const Var* x) { return add_number(x[0], kFactor); }
static Var build_clamp(const Var* x) { return clamp(x[0], kLow, kHigh); }
static Var build_log(const Var* x) { return log(x[0]); }
static Var build_sin(const Var* x) { return sin(x[0]); }
static Var build_cos(const Var* x) { return cos(x[0]); }
static Var build_sqrt(const Var* x) { return sqrt(x[0]); }
static Var build_abs(const Var* x) { return abs(x[0]); }
static Var build_tanh(const Var* x) { return tanh(x[0]); }
static Var build_sigmoid(const Var* x) { return sigmoid(x[0]); }
static Var build_softplus(const Var* x) { return softplus(x[0]); }
static Var build_relu(const Var* x) { return relu(x[0]); }
static Var build_gelu(const Var* x) { return gelu(x[0]); }
static Var build_gelu_tanh(const Var* x) { return gelu_tanh(x[0]); }
static Var build_silu(const Var* x) { return silu(x[0]); }
static Var build_dropout(const Var* x) { return dropout(x[0], kDropped, kSeed); }
static Var build_dropout_none(const Var* x) { return dropout(x[0], 0, kSeed); }
static Var build_dropout_all(const Var* x) { return dropout(x[0], 1, kSeed); }

static Var build_add_scalar(const Var* x) { return add_scalar(x[0], x[1]); }
static Var build_mul_scalar(const Var* x) { return mul_scalar(x[0], x[1]); }
static Var build_sub_row(const Var* x) { return sub_row(x[0], x[1]); }
static Var build_mul_row(const Var* x) { return mul_row(x[0], x[1]); }
static Var build_div_row(const Var* x) { return div_row(x[0], x[1]); }
static Var build_mul_col(const Var* x) { return mul_col(x[0], x[1]); }

static Var build_mean(const Var* x) { return mean(x[0]); }
static Var build_row_mean(const Var* x) { return row_mean(x[0]); }
static Var build_col_mean(const Var* x) { return col_mean(x[0]); }
static Var build_max(const Var* x) { return max(x[0]); }
static Var build_col_max(const Var* x) { return col_max(x[0]); }
static Var build_norm(const Var* x) { return norm(x[0]); }
static Var build_log_sum_exp(const Var* x) { return log_sum_exp(x[0]); }

static Var build_linear(const Var* x) { return linear(x[0], x[1], x[2]); }
static Var build_matmul_tn(const Var* x) { return matmul_tn(x[0], x[1]); }
static Var build_transpose(const Var* x) { return transpose(x[0]); }
static Var build_concat_rows(const Var* x) { return concat_rows(x, 3); }
static Var build_concat_cols(const Var* x) { return concat_cols(x, 3); }
static Var build_concat_one(const Var* x) { return concat_rows(x, 1); }
static Var build_concat_twice(const Var* x) {
  const Var parts[] = {x[0], x[1], x[0]};
  return concat_cols(parts, 3);
}
static Var build_conv1d_causal(const Var* x) { return conv1d(x[0], x[1], kTaps - 1); }
static Var build_conv1d_centred(const Var* x) { return conv1d(x[0], x[1], (kTaps - 1) / 2); }
static Var build_conv1d_ahead(const Var* x) { return conv1d(x[0], x[1], 0); }
static Var build_conv2d_causal(const Var* x) { return conv2d_causal(x[0], x[1]); }

namespace {
struct TanhOfProduct final : Recomputable {  // of two matrices, entry by entry
  Var run(Tape&, const Var* in) override { return tanh(mul(in[0], in[1])); }
};
}  // namespace
static Var build_recompute(const Var* x) {
  static TanhOfProduct block;
  return recompute(block, x, 2);
}

static Var build_log_softmax(const Var* x) { return log_softmax(x[0]); }
static Var build_layer_norm(const Var* x) { return layer_norm(x[0], x[1], x[2], kEps); }
static Var build_rms_norm(const Var* x) { return rms_norm(x[0], x[1], kEps); }

static Var against(Var x, const std::vector<int>& targets, double smoothing = 0) {
  return cross_entropy(x, targets.data(), int(targets.size()), {kIgnore, smoothing});
}
static Var build_cross_entropy(const Var* x) { return against(x[0], classes(x[0].shape().rows, x[0].shape().cols)); }
static Var build_cross_entropy_smooth(const Var* x) {
  return against(x[0], classes(x[0].shape().rows, x[0].shape().cols), kSmoothing);
}
static Var build_cross_entropy_none(const Var* x) { return against(x[0], classes(x[0].shape().rows, 0)); }
static Var build_bce_logits(const Var* x) { return bce_logits(x[0], x[1]); }
static Var build_mse(const Var* x) { return mse(x[0], x[1]); }
static Var build_kl(const Var* x) { return kl(x[0], x[1]); }

static Var build_top_k_mask(const Var* x) { return top_k_mask(x[0], kTop, kOther); }
static Var build_top_k_all(const Var* x) { return top_k_mask(x[0], 1000, kOther); }
static Var build_select(const Var* x) {
  return select(TestMask(x[0].shape().rows, x[0].shape().cols).keep, x[0], x[1]);
}

static Var build_sparse_attention(const Var* x) {
  return sparse_attention(x[0], x[1], x[2], kFactor, TestPairs(x[0].shape().rows, x[1].shape().rows).pairs);
}

// ---- masks, targets and numbers that do not fit

static Var lists_turned(const Var* x) {
  return sparse_attention(x[0], x[1], x[2], kFactor, TestPairs(x[1].shape().rows, x[0].shape().rows).pairs);
}

static Var select_turned(const Var* x) {
  return select(TestMask(x[0].shape().cols, x[0].shape().rows).keep, x[0], x[1]);
}
static Var no_such_class(const Var* x) { return against(x[0], {0, x[0].shape().cols, 0}); }
static Var negative_class(const Var* x) { return against(x[0], {0, 0, -1}); }
static Var target_missing(const Var* x) { return against(x[0], {0, 0}); }
static Var looks_too_far_back(const Var* x) { return conv1d(x[0], x[1], kTaps); }
static Var looks_past_itself(const Var* x) { return conv1d(x[0], x[1], -1); }
static Var even_kernel(const Var* x) { return conv2d_causal(x[1], x[0]); }

// ---- inputs

template <class F>
static void change(Mat x, F f) {
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) x(i, j) = Real(f(double(x(i, j))));
}

static void positive(const Mat* x) {
  change(x[0], [](double e) { return std::fabs(e); });
}

// Where e^x overflows or is 0, in float and in double.
static void far_out(const Mat* x) {
  change(x[0], [](double e) { return 400 * e; });
}

// Not so near to the bounds of clamp that a difference would step over one.
static void beside_the_bounds(const Mat* x) {
  change(x[0], [](double e) { return std::fabs(e - kLow) < 0.2 || std::fabs(e - kHigh) < 0.2 ? e / 2 : e; });
}

// No a so near to its b that a difference would change which is larger.
static void apart(const Mat* x) {
  if (x[0].shape() != x[1].shape()) return;
  for (int i = 0; i < x[0].rows; ++i)
    for (int j = 0; j < x[0].cols; ++j)
      if (std::fabs(x[0](i, j) - x[1](i, j)) < Real(0.3)) x[1](i, j) = -x[0](i, j);
}

// Row 0 deviates from nothing; row 1 has a mean beside which its deviations are small.
static void hard_rows(const Mat* x) {
  for (int j = 0; j < x[0].cols; ++j) {
    if (x[0].rows > 0) x[0](0, j) = Real(0.75);
    if (x[0].rows > 1) x[0](1, j) += 1000;
  }
}

// Targets from 0 to 1, the first and the last entry at the ends.
static void chances(const Mat* x) {
  const Mat t = x[1];
  change(t, [](double e) { return (e + 2) / 4; });
  if (t.rows == 0 || t.cols == 0) return;
  t(0, 0) = 0;
  t(t.rows - 1, t.cols - 1) = 1;
}
static void chances_far_out(const Mat* x) {
  far_out(x);
  chances(x);
}

// Positive weights, and in every second row one that is 0.
static void weights(const Mat* x) {
  positive(x);
  for (int i = 1; i < x[0].rows; i += 2)
    if (x[0].cols > 0) x[0](i, x[0].cols - 1) = 0;
}

const std::vector<OpCase>& more_op_cases() {
  static const std::vector<OpCase> cases = {
      {"pow", {"RC", "RC"}, build_pow, ref_pow, nullptr, positive},
      {"maximum", {"RC", "RC"}, build_maximum, ref_maximum, nullptr, apart},

      {"add_number", {"RC"}, build_add_number, ref_add_number},
      {"clamp", {"RC"}, build_clamp, ref_clamp, nullptr, beside_the_bounds},
      {"log", {"RC"}, build_log, ref_log, nullptr, positive},
      {"sin", {"RC"}, build_sin, ref_sin},
      {"cos", {"RC"}, build_cos, ref_cos},
      {"sqrt", {"RC"}, build_sqrt, ref_sqrt, nullptr, positive},
      {"abs", {"RC"}, build_abs, ref_abs},
      {"tanh", {"RC"}, build_tanh, ref_tanh},
      {"tanh, far out", {"RC"}, build_tanh, ref_tanh, nullptr, far_out},
      {"sigmoid", {"RC"}, build_sigmoid, ref_sigmoid},
      {"sigmoid, far out", {"RC"}, build_sigmoid, ref_sigmoid, nullptr, far_out},
      {"softplus", {"RC"}, build_softplus, ref_softplus},
      {"softplus, far out", {"RC"}, build_softplus, ref_softplus, nullptr, far_out},
      {"relu", {"RC"}, build_relu, ref_relu},
      {"gelu", {"RC"}, build_gelu, ref_gelu},
      {"gelu, far out", {"RC"}, build_gelu, ref_gelu, nullptr, far_out},
      {"gelu_tanh", {"RC"}, build_gelu_tanh, ref_gelu_tanh},
      {"gelu_tanh, far out", {"RC"}, build_gelu_tanh, ref_gelu_tanh, nullptr, far_out},
      {"silu", {"RC"}, build_silu, ref_silu},
      {"silu, far out", {"RC"}, build_silu, ref_silu, nullptr, far_out},
      {"dropout", {"RC"}, build_dropout, ref_dropout},
      {"dropout, nothing", {"RC"}, build_dropout_none, ref_detach},
      {"dropout, everything", {"RC"}, build_dropout_all, ref_dropout_all},

      {"add_scalar", {"RC", "11"}, build_add_scalar, ref_add_scalar},
      {"mul_scalar", {"RC", "11"}, build_mul_scalar, ref_mul_scalar},
      {"sub_row", {"RC", "1C"}, build_sub_row, ref_sub_row},
      {"mul_row", {"RC", "1C"}, build_mul_row, ref_mul_row},
      {"div_row", {"RC", "1C"}, build_div_row, ref_div_row},
      {"mul_col", {"RC", "R1"}, build_mul_col, ref_mul_col},

      {"mean", {"RC"}, build_mean, ref_mean, nullptr, nullptr, "RC"},
      {"row_mean", {"RC"}, build_row_mean, ref_row_mean, nullptr, nullptr, "C"},
      {"col_mean", {"RC"}, build_col_mean, ref_col_mean, nullptr, nullptr, "R"},
      {"max", {"RC"}, build_max, ref_max, nullptr, nullptr, "RC"},
      {"col_max", {"RC"}, build_col_max, ref_col_max, nullptr, nullptr, "R"},
      {"norm", {"RC"}, build_norm, ref_norm},
      {"log_sum_exp", {"RC"}, build_log_sum_exp, ref_log_sum_exp},
      {"log_sum_exp, rows far apart", {"RC"}, build_log_sum_exp, ref_log_sum_exp, nullptr, far_apart},
      {"log_sum_exp, one far ahead", {"RC"}, build_log_sum_exp, ref_log_sum_exp, nullptr, one_ahead},

      {"linear", {"RK", "KC", "1C"}, build_linear, ref_linear},
      {"matmul_tn", {"KR", "KC"}, build_matmul_tn, ref_matmul_tn},
      {"transpose", {"RC"}, build_transpose, ref_transpose},
      {"concat_rows", {"RC", "KC", "MC"}, build_concat_rows, ref_concat_rows},
      {"concat_rows, one part", {"RC"}, build_concat_one, ref_detach},
      {"concat_cols", {"RC", "RK", "RM"}, build_concat_cols, ref_concat_cols},
      {"concat_cols, one part twice", {"RC", "RK"}, build_concat_twice, ref_concat_twice},
      {"recompute", {"RC", "RC"}, build_recompute, ref_recompute},
      {"conv1d, causal", {"RK", "TC"}, build_conv1d_causal, ref_conv1d_causal, looks_too_far_back, nullptr, "K"},
      {"conv1d, centred", {"RK", "TC"}, build_conv1d_centred, ref_conv1d_centred, looks_past_itself, nullptr, "K"},
      {"conv1d, looking ahead", {"RK", "TC"}, build_conv1d_ahead, ref_conv1d_ahead, nullptr, nullptr, "K"},
      {"conv2d_causal", {"RM", "KC"}, build_conv2d_causal, ref_conv2d_causal, even_kernel, nullptr, "KC"},
      {"conv2d_causal, a narrow input", {"MR", "KC"}, build_conv2d_causal, ref_conv2d_causal, nullptr, nullptr, "KC"},

      {"log_softmax", {"RC"}, build_log_softmax, ref_log_softmax},
      {"log_softmax, rows far apart", {"RC"}, build_log_softmax, ref_log_softmax, nullptr, far_apart},
      {"log_softmax, one score far ahead", {"RC"}, build_log_softmax, ref_log_softmax, nullptr, one_ahead},
      {"layer_norm", {"RC", "1C", "1C"}, build_layer_norm, ref_layer_norm, nullptr, nullptr, "C"},
      {"layer_norm, hard rows", {"RC", "1C", "1C"}, build_layer_norm, ref_layer_norm, nullptr, hard_rows, "C"},
      {"rms_norm", {"RC", "1C"}, build_rms_norm, ref_rms_norm, nullptr, nullptr, "C"},

      {"cross_entropy", {"RC"}, build_cross_entropy, ref_cross_entropy, no_such_class},
      {"cross_entropy, smooth", {"RC"}, build_cross_entropy_smooth, ref_cross_entropy_smooth, negative_class},
      {"cross_entropy, far ahead", {"RC"}, build_cross_entropy, ref_cross_entropy, target_missing, one_ahead},
      {"cross_entropy, smooth and far",
       {"RC"},
       build_cross_entropy_smooth,
       ref_cross_entropy_smooth,
       nullptr,
       far_apart},
      {"cross_entropy, no row counts", {"RC"}, build_cross_entropy_none, ref_cross_entropy_none},
      {"bce_logits", {"RC", "RC"}, build_bce_logits, ref_bce_logits, nullptr, chances, "", false, 0b10},
      {"bce_logits, far out",
       {"RC", "RC"},
       build_bce_logits,
       ref_bce_logits,
       nullptr,
       chances_far_out,
       "",
       false,
       0b10},
      {"mse", {"RC", "RC"}, build_mse, ref_mse, nullptr, nullptr, "RC"},
      {"kl", {"RC", "RC"}, build_kl, ref_kl, nullptr, weights, "", false, 0b01},

      {"top_k_mask", {"RC"}, build_top_k_mask, ref_top_k_mask},
      {"top_k_mask, all of a row", {"RC"}, build_top_k_all, ref_detach},
      {"select", {"RC", "RC"}, build_select, ref_select, select_turned},

      {"sparse_attention", {"RK", "MK", "MC"}, build_sparse_attention, ref_attention_masked, lists_turned},
  };
  return cases;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
