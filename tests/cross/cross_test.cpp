// Float and double must tell the same story.
#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/cross/attention_run.h"

// max |f32 - f64| / (1 + max |f64|)
static double gap(const std::vector<double>& f32, const std::vector<double>& f64) {
  REQUIRE(f32.size() == f64.size());
  double worst = 0, largest = 0;
  for (std::size_t i = 0; i < f64.size(); ++i) {
    if (!std::isfinite(f32[i]) || !std::isfinite(f64[i])) return HUGE_VAL;
    worst = std::max(worst, std::fabs(f32[i] - f64[i]));
    largest = std::max(largest, std::fabs(f64[i]));
  }
  return worst / (1 + largest);
}

TEST_CASE("self-attention in float and in double agree: values to 1e-5, gradients to 1e-4") {
  for (bool fused : {false, true}) {
    for (bool causal : {false, true}) {
      CAPTURE(fused, causal);
      const AttentionNumbers f32 = attention_run_f32(fused, causal), f64 = attention_run_f64(fused, causal);
      CHECK(gap(f32.Y, f64.Y) <= 1e-5);
      CHECK(gap(f32.Y, f64.Y) > 0);  // else both runs were in one precision
      CHECK(gap(f32.dX, f64.dX) <= 1e-4);
      CHECK(gap(f32.dW_q, f64.dW_q) <= 1e-4);
      CHECK(gap(f32.dW_k, f64.dW_k) <= 1e-4);
      CHECK(gap(f32.dW_v, f64.dW_v) <= 1e-4);
    }
  }
}

TEST_CASE("every way of attending in float and in double agree: values to 1e-5, gradients to 1e-4") {
  REQUIRE(variant_names_f64().size() > 30);
  CHECK(variant_names_f32() == variant_names_f64());
  for (const std::string& name : variant_names_f64()) {
    CAPTURE(name);
    const std::vector<std::vector<double>> f32 = variant_run_f32(name), f64 = variant_run_f64(name);
    CHECK(gap(f32[0], f64[0]) <= 1e-5);
    CHECK(gap(f32[0], f64[0]) > 0);
    for (int i = 1; i < 4; ++i) CHECK(gap(f32[std::size_t(i)], f64[std::size_t(i)]) <= 1e-4);
  }
}
