// The ops of linear and low-rank attention.
#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Var build_elu_plus_one(const Var* x) { return elu_plus_one(x[0]); }
static Var build_depthwise_back(const Var* x) { return depthwise_conv1d(x[0], x[1], kTaps - 1); }
static Var build_depthwise_centred(const Var* x) { return depthwise_conv1d(x[0], x[1], (kTaps - 1) / 2); }
static Var build_causal_sums(const Var* x) { return causal_sums(x[0], x[1], x[2]); }
static Var build_causal_sums_lagging(const Var* x) { return causal_sums(x[0], x[1], x[2], kLag); }

static Var looks_ahead(const Var* x) { return causal_sums(x[0], x[1], x[2], -1); }
static Var looks_too_far_back(const Var* x) { return depthwise_conv1d(x[0], x[1], x[1].shape().rows); }
static Var looks_past_itself(const Var* x) { return depthwise_conv1d(x[0], x[1], -1); }

static void far_out(const Mat* x) {  // where e^x overflows or is 0
  for (int i = 0; i < x[0].rows; ++i)
    for (int j = 0; j < x[0].cols; ++j) x[0](i, j) *= 400;
}

const std::vector<OpCase>& efficient_op_cases() {
  static const std::vector<OpCase> cases = {
      {"elu_plus_one", {"RC"}, build_elu_plus_one, ref_elu_plus_one},
      {"elu_plus_one, far out", {"RC"}, build_elu_plus_one, ref_elu_plus_one, nullptr, far_out},
      {"depthwise_conv1d, looking back", {"RC", "TC"}, build_depthwise_back, ref_depthwise_back, looks_too_far_back, nullptr, "K"},
      {"depthwise_conv1d, centred", {"RC", "TC"}, build_depthwise_centred, ref_depthwise_centred, looks_past_itself, nullptr, "K"},
      {"causal_sums", {"RK", "MK", "MC"}, build_causal_sums, ref_causal_sums, looks_ahead},
      {"causal_sums, more queries than keys", {"MK", "RK", "RC"}, build_causal_sums, ref_causal_sums},
      {"causal_sums, lagging", {"RK", "MK", "MC"}, build_causal_sums_lagging, ref_causal_sums_lagging},
  };
  return cases;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
