#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Three queries and six keys (with L: 12) in tiles that divide neither of them, in one tile for all, and pair by pair.
static Var build_flash(const Var* x) { return flash_attention(x[0], x[1], x[2], kFactor, {.queries = 2, .keys = 4}); }
static Var build_flash_whole(const Var* x) { return flash_attention(x[0], x[1], x[2], kFactor); }
static Var build_flash_lagging(const Var* x) { return flash_attention(x[0], x[1], x[2], kFactor, {.queries = 3, .keys = 1, .tau = 2}); }
static Var build_flash_causal(const Var* x) { return flash_attention(x[0], x[1], x[2], kFactor, {.queries = 1, .keys = 1, .causal = true}); }
static Var build_flash_and_L(const Var* x) { return flash_attention(x[0], x[1], x[2], kFactor, {.queries = 2, .keys = 4, .with_L = true}); }
static Var build_flash_masked(const Var* x) {
  const TestMask m(x[0].shape().rows, x[1].shape().rows);
  return flash_attention(x[0], x[1], x[2], kFactor, {.queries = 2, .keys = 4, .keep = m.keep});
}

static Var flash_turned(const Var* x) {
  const TestMask m(x[1].shape().rows, x[0].shape().rows);
  return flash_attention(x[0], x[1], x[2], kFactor, {.keep = m.keep});
}
static Var flash_key_missing(const Var* x) {
  const TestMask m(1, x[1].shape().rows - 1);
  return flash_attention(x[0], x[1], x[2], kFactor, {.keep = m.keep});
}

const std::vector<OpCase>& flash_op_cases() {
  static const std::vector<OpCase> cases = {
      {"flash_attention", {"RK", "MK", "MC"}, build_flash, ref_attention},
      {"flash_attention, one tile", {"RK", "MK", "MC"}, build_flash_whole, ref_attention},
      {"flash_attention, lagging maximum", {"RK", "MK", "MC"}, build_flash_lagging, ref_attention},
      {"flash_attention, causal", {"RK", "MK", "MC"}, build_flash_causal, ref_attention_causal, flash_key_missing},
      {"flash_attention, masked", {"RK", "MK", "MC"}, build_flash_masked, ref_attention_masked, flash_turned},
      {"flash_attention, with L", {"RK", "TK", "TC"}, build_flash_and_L, ref_attention_and_L},
  };
  return cases;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
