#include <algorithm>
#include <cmath>

#include "engine/rng.h"  // which entries dropout drops is promised in its terms
#include "tests/op_reference.h"

static constexpr double kPi = 3.14159265358979323846;

std::vector<int> classes(int rows, int cols) {
  std::vector<int> all;
  for (int i = 0; i < rows; ++i) all.push_back(i == 1 || cols == 0 ? kIgnore : (3 * i + 2) % cols);
  return all;
}

// f of every entry
template <class F>
static Table each(Table y, F f) {
  for (double& entry : y.entries) entry = f(entry);
  return y;
}

// f of every entry of a and its partner in b: the entry at the same place, or that of b's only row or only column
template <class F>
static Table pairs(const Table& a, const Table& b, F f) {
  Table y = a;
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = f(a(i, j), b(b.rows == 1 ? 0 : i, b.cols == 1 ? 0 : j));
  return y;
}

static double plus(double a, double b) { return a + b; }
static double minus(double a, double b) { return a - b; }
static double times(double a, double b) { return a * b; }
static double over(double a, double b) { return a / b; }

// ---- entry by entry

Table ref_pow(const Table* x) {
  return pairs(x[0], x[1], [](double a, double b) { return std::exp(b * std::log(a)); });
}
Table ref_maximum(const Table* x) {
  return pairs(x[0], x[1], [](double a, double b) { return a > b ? a : b; });
}
Table ref_add_number(const Table* x) {
  return each(x[0], [](double e) { return e + kFactor; });
}
Table ref_clamp(const Table* x) {
  return each(x[0], [](double e) { return e < kLow ? kLow : e > kHigh ? kHigh : e; });
}
Table ref_log(const Table* x) {
  return each(x[0], [](double e) { return std::log(e); });
}
Table ref_sin(const Table* x) {
  return each(x[0], [](double e) { return std::sin(e); });
}
Table ref_cos(const Table* x) {
  return each(x[0], [](double e) { return std::cos(e); });
}
Table ref_sqrt(const Table* x) {
  return each(x[0], [](double e) { return std::sqrt(e); });
}
Table ref_abs(const Table* x) {
  return each(x[0], [](double e) { return e < 0 ? -e : e; });
}
Table ref_relu(const Table* x) {
  return each(x[0], [](double e) { return e < 0 ? 0 : e; });
}

static double logistic(double e) { return 1 / (1 + std::exp(-e)); }

Table ref_sigmoid(const Table* x) { return each(x[0], logistic); }
Table ref_silu(const Table* x) {
  return each(x[0], [](double e) { return e * logistic(e); });
}
Table ref_tanh(const Table* x) {
  return each(x[0], [](double e) { return 2 * logistic(2 * e) - 1; });
}

static double log_one_plus_exp(double e) {
  return e > 700 ? e : std::log(1 + std::exp(e));
}  // at 700 the 1 is long gone

Table ref_softplus(const Table* x) { return each(x[0], log_one_plus_exp); }
Table ref_gelu(const Table* x) {
  return each(x[0], [](double e) { return e * (1 + std::erf(e / std::sqrt(2.0))) / 2; });
}
Table ref_gelu_tanh(const Table* x) {
  return each(x[0],
              [](double e) { return e * (1 + std::tanh(std::sqrt(2 / kPi) * (e + 0.044715 * std::pow(e, 3)))) / 2; });
}

Table ref_dropout(const Table* x) {
  Table y(x[0].rows, x[0].cols);
  for (int i = 0; i < y.rows; ++i) {
    glass::Rng row(kSeed, std::uint64_t(i));
    for (int j = 0; j < y.cols; ++j)
      if (row.uniform() >= kDropped) y(i, j) = x[0](i, j) / (1 - kDropped);
  }
  return y;
}
Table ref_dropout_all(const Table* x) { return {x[0].rows, x[0].cols}; }

// ---- one number, a row or a column against all

Table ref_add_scalar(const Table* x) { return pairs(x[0], x[1], plus); }
Table ref_recompute(const Table* x) {
  const Table product = ref_mul(x);
  return ref_tanh(&product);
}
Table ref_mul_scalar(const Table* x) { return pairs(x[0], x[1], times); }
Table ref_sub_row(const Table* x) { return pairs(x[0], x[1], minus); }
Table ref_mul_row(const Table* x) { return pairs(x[0], x[1], times); }
Table ref_div_row(const Table* x) { return pairs(x[0], x[1], over); }
Table ref_mul_col(const Table* x) { return pairs(x[0], x[1], times); }

// ---- reductions

static double total(const Table& t) {
  double sum = 0;
  for (double entry : t.entries) sum += entry;
  return sum;
}

static double largest(const Table& t) { return *std::max_element(t.entries.begin(), t.entries.end()); }
static double average(const Table& t) { return total(t) / double(t.entries.size()); }

static double log_of_sum(const Table& t) {
  if (t.entries.empty()) return -HUGE_VAL;
  const double m = largest(t);
  return m + std::log(total(each(t, [m](double e) { return std::exp(e - m); })));
}

static Table one(double number) {
  Table y(1, 1);
  y(0, 0) = number;
  return y;
}

static Table row_of(const Table& x, int i) {
  Table row(1, x.cols);
  for (int j = 0; j < x.cols; ++j) row(0, j) = x(i, j);
  return row;
}

template <class F>
static Table of_rows(const Table& x, F f) {
  Table y(x.rows, 1);
  for (int i = 0; i < x.rows; ++i) y(i, 0) = f(row_of(x, i));
  return y;
}

Table ref_transpose(const Table* x) {
  Table y(x[0].cols, x[0].rows);
  for (int i = 0; i < x[0].rows; ++i)
    for (int j = 0; j < x[0].cols; ++j) y(j, i) = x[0](i, j);
  return y;
}

template <class F>
static Table of_cols(const Table* x, F f) {
  const Table y = of_rows(ref_transpose(x), f);
  return ref_transpose(&y);
}

Table ref_mean(const Table* x) { return one(average(x[0])); }
Table ref_row_mean(const Table* x) { return of_rows(x[0], average); }
Table ref_col_mean(const Table* x) { return of_cols(x, average); }
Table ref_max(const Table* x) { return one(largest(x[0])); }
Table ref_col_max(const Table* x) { return of_cols(x, largest); }
Table ref_norm(const Table* x) { return one(std::sqrt(total(pairs(x[0], x[0], times)))); }
Table ref_log_sum_exp(const Table* x) { return of_rows(x[0], log_of_sum); }

// ---- products and order

Table ref_matmul_tn(const Table* x) {
  const Table operands[] = {ref_transpose(x), x[1]};
  return ref_matmul(operands);
}

Table ref_linear(const Table* x) {
  const Table operands[] = {ref_matmul(x), x[2]};
  return ref_add_row(operands);
}

static Table below(const Table& top, const Table& bottom) {
  Table y(top.rows + bottom.rows, top.cols);
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = i < top.rows ? top(i, j) : bottom(i - top.rows, j);
  return y;
}

static Table beside(const Table& left, const Table& right) {
  const Table y = below(ref_transpose(&left), ref_transpose(&right));
  return ref_transpose(&y);
}

Table ref_concat_rows(const Table* x) { return below(below(x[0], x[1]), x[2]); }
Table ref_concat_cols(const Table* x) { return beside(beside(x[0], x[1]), x[2]); }
Table ref_concat_twice(const Table* x) { return beside(beside(x[0], x[1]), x[0]); }

// Y = Σ_k (X moved by k - left, zeros coming in) W_k
static Table convolved(const Table* x, int left) {
  const int channels = x[0].cols;
  Table y(x[0].rows, x[1].cols);
  for (int k = 0; k < kTaps; ++k) {
    Table moved(x[0].rows, channels), tap(channels, y.cols);
    for (int i = 0; i < moved.rows; ++i)
      for (int j = 0; j < channels; ++j)
        if (i + k >= left && i + k - left < moved.rows) moved(i, j) = x[0](i + k - left, j);
    for (int i = 0; i < channels; ++i)
      for (int j = 0; j < y.cols; ++j) tap(i, j) = x[1](k * channels + i, j);
    const Table operands[] = {moved, tap};
    y = pairs(y, ref_matmul(operands), plus);
  }
  return y;
}

Table ref_conv1d_causal(const Table* x) { return convolved(x, kTaps - 1); }
Table ref_conv1d_centred(const Table* x) { return convolved(x, (kTaps - 1) / 2); }
Table ref_conv1d_ahead(const Table* x) { return convolved(x, 0); }

// Every entry of X, shifted to where it is wanted: right by what is left of the middle, down by how far W looks back.
Table ref_conv2d_causal(const Table* x) {
  const Table &X = x[0], &W = x[1];
  Table y(X.rows, X.cols);
  for (int i = 0; i < X.rows; ++i)
    for (int j = 0; j < X.cols; ++j)
      for (int down = 0; down < W.rows && i + down < X.rows; ++down)
        for (int right = -(W.cols / 2); right <= W.cols / 2; ++right)
          if (j + right >= 0 && j + right < X.cols)
            y(i + down, j + right) += W(W.rows - 1 - down, W.cols / 2 - right) * X(i, j);
  return y;
}

// ---- rows made alike

Table ref_log_softmax(const Table* x) { return pairs(x[0], ref_log_sum_exp(x), minus); }

Table ref_rms_norm(const Table* x) {
  const Table square = of_rows(pairs(x[0], x[0], times), average);
  return pairs(pairs(x[0], each(square, [](double e) { return std::sqrt(e + kEps); }), over), x[1], times);
}

Table ref_layer_norm(const Table* x) {  // rms norm of what deviates from the mean, and the bias
  const Table operands[] = {pairs(x[0], of_rows(x[0], average), minus), x[1]};
  return pairs(ref_rms_norm(operands), x[2], plus);
}

// ---- losses

static Table mean_cross_entropy(const Table* x, const std::vector<int>& targets, double smoothing) {
  const Table log_p = ref_log_softmax(x);
  double sum = 0;
  int counted = 0;
  for (int i = 0; i < log_p.rows; ++i) {
    const int target = targets[std::size_t(i)];
    if (target == kIgnore) continue;
    ++counted;
    for (int j = 0; j < log_p.cols; ++j) {
      const double hot = j == target ? 1 : 0;
      sum -= ((1 - smoothing) * hot + smoothing / log_p.cols) * log_p(i, j);
    }
  }
  return one(counted ? sum / counted : 0);
}

Table ref_cross_entropy(const Table* x) { return mean_cross_entropy(x, classes(x[0].rows, x[0].cols), 0); }
Table ref_cross_entropy_smooth(const Table* x) {
  return mean_cross_entropy(x, classes(x[0].rows, x[0].cols), kSmoothing);
}
Table ref_cross_entropy_none(const Table*) { return one(0); }

Table ref_bce_logits(const Table* x) {
  return pairs(x[0], x[1], [](double e, double t) { return t * log_one_plus_exp(-e) + (1 - t) * log_one_plus_exp(e); });
}
Table ref_mse(const Table* x) {
  return one(average(pairs(x[0], x[1], [](double a, double b) { return (a - b) * (a - b); })));
}
Table ref_kl(const Table* x) {
  return of_rows(pairs(x[0], x[1], [](double p, double log_q) { return p == 0 ? 0 : p * (std::log(p) - log_q); }),
                 total);
}

// ---- choosing

Table ref_top_k_mask(const Table* x) {  // an entry stays if fewer than kTop others are larger
  Table y = x[0];
  for (int i = 0; i < y.rows; ++i) {
    for (int j = 0; j < y.cols; ++j) {
      int larger = 0;
      for (int l = 0; l < y.cols; ++l) larger += x[0](i, l) > x[0](i, j);
      if (larger >= kTop) y(i, j) = kOther;
    }
  }
  return y;
}

Table ref_select(const Table* x) {
  Table y = x[1];
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j)
      if (sees(i, j)) y(i, j) = x[0](i, j);
  return y;
}
