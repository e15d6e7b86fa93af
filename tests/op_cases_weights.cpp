#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Var build_sparsemax(const Var* x) { return sparsemax(x[0]); }
static Var build_entmax15(const Var* x) { return entmax15(x[0]); }

// Row 0 keeps all its entries, row 1 has two that are equal and ahead, row 2 is moved far away.
static void hard_rows(const Mat* x) {
  const Mat e = x[0];
  for (int j = 0; j < e.cols; ++j) {
    if (e.rows > 0) e(0, j) *= Real(0.01);
    if (e.rows > 1) e(1, j) = j == 1 || j == 3 ? Real(2) : e(1, j) / 2;
    if (e.rows > 2) e(2, j) = Real(e(2, j) - 256);  // exact in float but for four bits
  }
}

// The first entry is exactly at the threshold: in even rows that of sparsemax, 1 below the largest, in odd rows that of
// entmax15, 2 below.
static void at_the_border(const Mat* x) {
  const Mat e = x[0];
  for (int i = 0; i < e.rows; ++i)
    for (int j = 0; j < e.cols; ++j) e(i, j) = Real(j == 0 ? 3 - i % 2 : j == 1 ? 4 : j - 9);
}

const std::vector<OpCase>& weights_op_cases() {
  static const std::vector<OpCase> cases = {
      {"sparsemax", {"RC"}, build_sparsemax, ref_sparsemax},
      {"sparsemax, rows far apart", {"RC"}, build_sparsemax, ref_sparsemax, nullptr, far_apart},
      {"sparsemax, one far ahead", {"RC"}, build_sparsemax, ref_sparsemax, nullptr, one_ahead},
      {"sparsemax, hard rows", {"RC"}, build_sparsemax, ref_sparsemax, nullptr, hard_rows},
      {"sparsemax, at the border", {"RC"}, build_sparsemax, ref_sparsemax, nullptr, at_the_border},
      {"entmax15", {"RC"}, build_entmax15, ref_entmax15},
      {"entmax15, rows far apart", {"RC"}, build_entmax15, ref_entmax15, nullptr, far_apart},
      {"entmax15, one far ahead", {"RC"}, build_entmax15, ref_entmax15, nullptr, one_ahead},
      {"entmax15, hard rows", {"RC"}, build_entmax15, ref_entmax15, nullptr, hard_rows},
      {"entmax15, at the border", {"RC"}, build_entmax15, ref_entmax15, nullptr, at_the_border},
  };
  return cases;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
