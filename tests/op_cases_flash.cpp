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

// Three sequences of two queries and four keys, six heads that share two key heads, widths 2 and 3; fewer where a size is 1.
static Tiling many(const Var* x) {
  const int shared = x[1].shape().cols == 1 || x[2].shape().cols == 1 ? 1 : 2;
  return {.queries = 2, .keys = 3, .batch = x[0].shape().rows == 1 ? 1 : 3, .heads = 3 * shared, .kv_heads = shared};
}
static Var build_flash_heads(const Var* x) {
  Tiling tiling = many(x);
  tiling.with_L = true;
  return flash_attention(x[0], x[1], x[2], kFactor, tiling);
}
static Var build_flash_heads_causal(const Var* x) {
  Tiling tiling = many(x);
  tiling.causal = true;
  return flash_attention(x[0], x[1], x[2], kFactor, tiling);
}
static Var build_flash_heads_masked(const Var* x) {  // a mask for each sequence: the rows of one long mask
  Tiling tiling = many(x);
  const TestMask m(x[0].shape().rows, x[1].shape().rows / tiling.batch);
  tiling.keep = m.keep, tiling.masks = tiling.batch;
  return flash_attention(x[0], x[1], x[2], kFactor, tiling);
}
static Var flash_heads_uncut(const Var* x) { return flash_attention(x[0], x[1], x[2], kFactor, {.heads = 5, .kv_heads = 5}); }
static Var flash_batch_uncut(const Var* x) { return flash_attention(x[0], x[1], x[2], kFactor, {.batch = 5, .heads = 6, .kv_heads = 2}); }

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
      {"flash_attention, heads, with L", {"MT", "TK", "TM"}, build_flash_heads, ref_attention_heads, flash_heads_uncut},
      {"flash_attention, heads, causal", {"MT", "TK", "TM"}, build_flash_heads_causal, ref_attention_heads_causal, flash_batch_uncut},
      {"flash_attention, heads, masked", {"MT", "TK", "TM"}, build_flash_heads_masked, ref_attention_heads_masked},
  };
  return cases;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
