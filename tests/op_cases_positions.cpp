#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Rotary how(Var x, Rotary::Pairs pairs) {  // as many channels as make pairs
  return {.pairs = pairs, .first = kFirst, .base = kBase, .dims = x.shape().cols / 2 * 2, .spacing = kSpacing};
}
static Var build_rotary(const Var* x) { return rotary(x[0], how(x[0], Rotary::Pairs::interleaved)); }
static Var build_rotary_half(const Var* x) { return rotary(x[0], how(x[0], Rotary::Pairs::half)); }

static Var build_gather_entries(const Var* x) {
  const Shape shape{2, count(x[0].shape()) == 0 ? 0 : 7};
  return gather_entries(x[0], places_among(int(count(x[0].shape())), int(count(shape))).data(), shape);
}
static Var build_scatter_entries(const Var* x) {
  return scatter_entries(x[0], places_among(8, int(count(x[0].shape()))).data(), {4, 2});
}

static Var build_rotary_heads(const Var* x) {  // three sequences, two heads; one where a size is 1
  const Shape s = x[0].shape();
  const int batch = s.rows == 1 ? 1 : 3, heads = s.cols == 3 ? 1 : 2;
  return rotary(x[0], {.first = kFirst, .base = kBase, .dims = s.cols / heads / 2 * 2, .spacing = kSpacing, .batch = batch, .heads = heads});
}
static Var rotary_uncut(const Var* x) { return rotary(x[0], {.batch = 4, .heads = 2}); }

static Var odd_channels(const Var* x) { return rotary(x[0]); }  // all 5
static Var too_many_channels(const Var* x) { return rotary(x[0], {.dims = x[0].shape().cols + 1}); }
static Var gather_past_the_end(const Var* x) {
  const int places[] = {0, int(count(x[0].shape()))};
  return gather_entries(x[0], places, {1, 2});
}
static Var scatter_before_the_start(const Var* x) {
  return scatter_entries(x[0], std::vector<int>(std::size_t(count(x[0].shape())), -1).data(), {4, 2});
}

const std::vector<OpCase>& position_op_cases() {
  static const std::vector<OpCase> cases = {
      {"rotary", {"RM"}, build_rotary, ref_rotary, too_many_channels},
      {"rotary, half", {"RM"}, build_rotary_half, ref_rotary_half},
      {"rotary, a part of the channels", {"RC"}, build_rotary, ref_rotary, odd_channels},
      {"rotary, half, a part of the channels", {"RC"}, build_rotary_half, ref_rotary_half},
      {"rotary, heads", {"MT"}, build_rotary_heads, ref_rotary_heads, rotary_uncut},
      {"gather_entries", {"RC"}, build_gather_entries, ref_gather_entries, gather_past_the_end},
      {"scatter_entries", {"RC"}, build_scatter_entries, ref_scatter_entries, scatter_before_the_start},
  };
  return cases;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
