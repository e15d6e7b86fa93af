#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

static Var build_add(const Var* x) { return add(x[0], x[1]); }
static Var build_sub(const Var* x) { return sub(x[0], x[1]); }
static Var build_mul(const Var* x) { return mul(x[0], x[1]); }
static Var build_div(const Var* x) { return div(x[0], x[1]); }
static Var build_neg(const Var* x) { return neg(x[0]); }
static Var build_scale(const Var* x) { return scale(x[0], kFactor); }
static Var build_exp(const Var* x) { return exp(x[0]); }

static Var build_add_row(const Var* x) { return add_row(x[0], x[1]); }
static Var build_add_col(const Var* x) { return add_col(x[0], x[1]); }
static Var build_sub_col(const Var* x) { return sub_col(x[0], x[1]); }
static Var build_div_col(const Var* x) { return div_col(x[0], x[1]); }

static Var build_sum(const Var* x) { return sum(x[0]); }
static Var build_row_sum(const Var* x) { return row_sum(x[0]); }
static Var build_col_sum(const Var* x) { return col_sum(x[0]); }
static Var build_row_max(const Var* x) { return row_max(x[0]); }

static Var build_matmul(const Var* x) { return matmul(x[0], x[1]); }
static Var build_matmul_nt(const Var* x) { return matmul_nt(x[0], x[1]); }

static Var build_softmax(const Var* x) { return softmax(x[0]); }

static Var build_mask(const Var* x) { return mask(x[0], TestMask(x[0].shape().rows, x[0].shape().cols).keep, kOther); }
static Var build_drop_hidden(const Var* x) { return drop_hidden(x[0], TestMask(kQueries, x[0].shape().rows).keep); }
static Var build_gather_rows(const Var* x) {
  const std::vector<int> ids = rows_to_gather(x[0].shape().rows);
  return gather_rows(x[0], ids.data(), int(ids.size()));
}
static Var build_detach(const Var* x) { return detach(x[0]); }

static Var build_attention(const Var* x) { return attention(x[0], x[1], x[2], kFactor); }
static Var build_attention_masked(const Var* x) {
  const TestMask m(x[0].shape().rows, x[1].shape().rows);
  return attention(x[0], x[1], x[2], kFactor, &m.keep);
}
static Var build_weights_of(const Var* x) { return weights_of(build_attention_masked(x)); }

// ---- masks and indices that do not fit

static Var mask_turned(const Var* x) { return mask(x[0], TestMask(x[0].shape().cols, x[0].shape().rows).keep, kOther); }
static Var drop_hidden_short(const Var* x) { return drop_hidden(x[0], TestMask(kQueries, x[0].shape().rows - 1).keep); }
static Var attention_turned(const Var* x) {
  const TestMask m(x[1].shape().rows, x[0].shape().rows);
  return attention(x[0], x[1], x[2], kFactor, &m.keep);
}
static Var gather_beyond(const Var* x) {
  const int ids[] = {0, x[0].shape().rows};
  return gather_rows(x[0], ids, 2);
}

void far_apart(const Mat* x) {
  const Mat e = x[0];
  for (int i = 0; i < e.rows; ++i)
    for (int j = 0; j < e.cols; ++j) e(i, j) += Real(1000 * (i - 1));
}

void one_ahead(const Mat* x) {
  const Mat e = x[0];
  for (int i = 0; i < e.rows && e.cols > 0; ++i) e(i, i == 0 && e.cols > 1 ? 1 : e.cols - 1) += 1000;
}

static const std::vector<OpCase>& first_op_cases() {
  static const std::vector<OpCase> cases = {
      {"add", {"RC", "RC"}, build_add, ref_add},
      {"sub", {"RC", "RC"}, build_sub, ref_sub},
      {"mul", {"RC", "RC"}, build_mul, ref_mul},
      {"div", {"RC", "RC"}, build_div, ref_div},
      {"neg", {"RC"}, build_neg, ref_neg},
      {"scale", {"RC"}, build_scale, ref_scale},
      {"exp", {"RC"}, build_exp, ref_exp},

      {"add_row", {"RC", "1C"}, build_add_row, ref_add_row},
      {"add_col", {"RC", "R1"}, build_add_col, ref_add_col},
      {"sub_col", {"RC", "R1"}, build_sub_col, ref_sub_col},
      {"div_col", {"RC", "R1"}, build_div_col, ref_div_col},

      {"sum", {"RC"}, build_sum, ref_sum},
      {"row_sum", {"RC"}, build_row_sum, ref_row_sum},
      {"col_sum", {"RC"}, build_col_sum, ref_col_sum},
      {"row_max", {"RC"}, build_row_max, ref_row_max, nullptr, nullptr, "C"},

      {"matmul", {"RK", "KC"}, build_matmul, ref_matmul},
      {"matmul_nt", {"RK", "CK"}, build_matmul_nt, ref_matmul_nt},

      {"softmax", {"RC"}, build_softmax, ref_softmax},
      {"softmax, rows far apart", {"RC"}, build_softmax, ref_softmax, nullptr, far_apart},
      {"softmax, one score far ahead", {"RC"}, build_softmax, ref_softmax, nullptr, one_ahead},

      {"mask", {"RC"}, build_mask, ref_mask, mask_turned},
      {"drop_hidden", {"MC"}, build_drop_hidden, ref_drop_hidden, drop_hidden_short},
      {"gather_rows", {"RC"}, build_gather_rows, ref_gather_rows, gather_beyond},
      {"detach", {"RC"}, build_detach, ref_detach, nullptr, nullptr, "", true},

      {"attention", {"RK", "MK", "MC"}, build_attention, ref_attention},
      {"attention, masked", {"RK", "MK", "MC"}, build_attention_masked, ref_attention_masked, attention_turned},
      {"weights_of", {"RK", "MK", "MC"}, build_weights_of, ref_weights_of, nullptr, nullptr, "", true},
  };
  return cases;
}

const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all = first_op_cases();
    all.insert(all.end(), more_op_cases().begin(), more_op_cases().end());
    all.insert(all.end(), position_op_cases().begin(), position_op_cases().end());
    all.insert(all.end(), weights_op_cases().begin(), weights_op_cases().end());
    all.insert(all.end(), flash_op_cases().begin(), flash_op_cases().end());
    all.insert(all.end(), efficient_op_cases().begin(), efficient_op_cases().end());
    return all;
  }();
  return cases;
}

std::string OpCase::op() const {
  const std::string text = name;
  return text.substr(0, text.find(','));
}

int& Sizes::of(char letter) {
  switch (letter) {
    case 'R':
      return R;
    case 'C':
      return C;
    case 'K':
      return K;
    default:
      return M;
  }
}

int Sizes::number(char letter) const {
  if (letter == '1') return 1;
  Sizes sizes = *this;
  return letter == 'T' ? kTaps * K : sizes.of(letter);
}

std::vector<Shape> Sizes::shapes(const OpCase& c) const {
  std::vector<Shape> all;
  for (const std::string& s : c.shapes) all.push_back({number(s[0]), number(s[1])});
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
