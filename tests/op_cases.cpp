#include "tests/op_case.h"

namespace glass {
inline namespace GLASS_PRECISION {

// A mask for the ops that take one. They copy it, so it may go away after the call.
struct TestMask {
  std::vector<unsigned char> allowed;
  Keep keep;

  TestMask(int queries, int keys) {
    for (int i = 0; i < queries; ++i)
      for (int j = 0; j < keys; ++j) allowed.push_back(sees(i, j));
    keep = {allowed.data(), queries, keys};
  }
};

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

// Row i moves to 1000 (i - 1): exp of it overflows or is 0, and one maximum for all rows does not help.
static void far_apart(Mat x) {
  for (int i = 0; i < x.rows; ++i)
    for (int j = 0; j < x.cols; ++j) x(i, j) += Real(1000 * (i - 1));
}

const std::vector<OpCase>& op_cases() {
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
      {"row_max", {"RC"}, build_row_max, ref_row_max, nullptr, nullptr, 'C'},

      {"matmul", {"RK", "KC"}, build_matmul, ref_matmul},
      {"matmul_nt", {"RK", "CK"}, build_matmul_nt, ref_matmul_nt},

      {"softmax", {"RC"}, build_softmax, ref_softmax},
      {"softmax, rows far apart", {"RC"}, build_softmax, ref_softmax, nullptr, far_apart},

      {"mask", {"RC"}, build_mask, ref_mask, mask_turned},
      {"drop_hidden", {"MC"}, build_drop_hidden, ref_drop_hidden, drop_hidden_short},
      {"gather_rows", {"RC"}, build_gather_rows, ref_gather_rows, gather_beyond},
      {"detach", {"RC"}, build_detach, ref_detach, nullptr, nullptr, 0, true},

      {"attention", {"RK", "MK", "MC"}, build_attention, ref_attention},
      {"attention, masked", {"RK", "MK", "MC"}, build_attention_masked, ref_attention_masked, attention_turned},
      {"weights_of", {"RK", "MK", "MC"}, build_weights_of, ref_weights_of, nullptr, nullptr, 0, true},
  };
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

std::vector<Shape> Sizes::shapes(const OpCase& c) const {
  Sizes sizes = *this;
  std::vector<Shape> all;
  for (const std::string& s : c.shapes) {
    const int rows = s[0] == '1' ? 1 : sizes.of(s[0]), cols = s[1] == '1' ? 1 : sizes.of(s[1]);
    all.push_back({rows, cols});
  }
  return all;
}

}  // namespace GLASS_PRECISION
}  // namespace glass
