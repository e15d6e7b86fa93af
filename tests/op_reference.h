// What each op means, in double and in the plainest way that the formula allows. Nothing here calls the engine:
// a mistake in a kernel cannot repeat itself.
#pragma once

#include <cstddef>
#include <vector>

struct Table {
  int rows = 0, cols = 0;
  std::vector<double> entries;

  Table(int r, int c) : rows(r), cols(c), entries(std::size_t(r) * std::size_t(c)) {}
  double& operator()(int r, int c) { return entries[std::size_t(r) * std::size_t(cols) + std::size_t(c)]; }
  double operator()(int r, int c) const { return entries[std::size_t(r) * std::size_t(cols) + std::size_t(c)]; }
};

// The choices that the cases make, the same for the op and for its reference.
constexpr double kFactor = -1.7;  // of scale and attention
constexpr double kOther = 0.6;    // what mask writes over hidden entries
constexpr int kQueries = 4;       // of the mask that drop_hidden gets
constexpr double kLow = -0.8, kHigh = 1.1;  // of clamp
constexpr double kDropped = 0.3;            // of dropout: the chance
constexpr unsigned kSeed = 11;
constexpr double kEps = 0.1;                // of layer_norm and rms_norm: large enough to matter
constexpr double kSmoothing = 0.1;          // of cross_entropy
constexpr int kIgnore = -100;
constexpr int kFirst = 3;                   // of rotary: the position of row 0
constexpr double kBase = 7, kSpacing = 0.5;
constexpr int kLag = 2;                     // of causal_sums: the last keys that are left out
constexpr int kTop = 2;                     // of top_k_mask: so many of each row stay
constexpr int kTaps = 3;                    // of conv1d: the rows of X that one row of Y sees
// Which query sees which key: query 1 sees none, key 2 is seen by none, the others see more and more keys.
bool sees(int query, int key);
// Rows to gather from a table: the last comes twice, the order is not the table's.
std::vector<int> rows_to_gather(int table_rows);
// Where gather_entries and scatter_entries look: `n` places among `entries`, some of them twice.
std::vector<int> places_among(int entries, int n);
// A class for each row; row 1, and every row where there are no classes, does not count.
std::vector<int> classes(int rows, int cols);

Table ref_add(const Table* x);
Table ref_sub(const Table* x);
Table ref_mul(const Table* x);
Table ref_div(const Table* x);
Table ref_neg(const Table* x);
Table ref_scale(const Table* x);
Table ref_exp(const Table* x);
Table ref_add_row(const Table* x);
Table ref_add_col(const Table* x);
Table ref_sub_col(const Table* x);
Table ref_div_col(const Table* x);
Table ref_sum(const Table* x);
Table ref_row_sum(const Table* x);
Table ref_col_sum(const Table* x);
Table ref_row_max(const Table* x);
Table ref_matmul(const Table* x);
Table ref_matmul_nt(const Table* x);
Table ref_softmax(const Table* x);
Table ref_mask(const Table* x);
Table ref_drop_hidden(const Table* x);
Table ref_gather_rows(const Table* x);
Table ref_detach(const Table* x);
Table ref_attention(const Table* x);
Table ref_attention_masked(const Table* x);
Table ref_weights_of(const Table* x);

// op_reference_more.cpp
Table ref_pow(const Table* x);
Table ref_maximum(const Table* x);
Table ref_add_number(const Table* x);
Table ref_clamp(const Table* x);
Table ref_log(const Table* x);
Table ref_sin(const Table* x);
Table ref_cos(const Table* x);
Table ref_sqrt(const Table* x);
Table ref_abs(const Table* x);
Table ref_tanh(const Table* x);
Table ref_sigmoid(const Table* x);
Table ref_softplus(const Table* x);
Table ref_relu(const Table* x);
Table ref_gelu(const Table* x);
Table ref_gelu_tanh(const Table* x);
Table ref_silu(const Table* x);
Table ref_dropout(const Table* x);
Table ref_dropout_all(const Table* x);
Table ref_add_scalar(const Table* x);
Table ref_mul_scalar(const Table* x);
Table ref_sub_row(const Table* x);
Table ref_mul_row(const Table* x);
Table ref_div_row(const Table* x);
Table ref_mul_col(const Table* x);
Table ref_mean(const Table* x);
Table ref_row_mean(const Table* x);
Table ref_col_mean(const Table* x);
Table ref_max(const Table* x);
Table ref_col_max(const Table* x);
Table ref_norm(const Table* x);
Table ref_log_sum_exp(const Table* x);
Table ref_matmul_tn(const Table* x);
Table ref_linear(const Table* x);
Table ref_transpose(const Table* x);
Table ref_concat_rows(const Table* x);
Table ref_concat_cols(const Table* x);
Table ref_concat_twice(const Table* x);
Table ref_conv1d_causal(const Table* x);
Table ref_conv1d_centred(const Table* x);
Table ref_conv1d_ahead(const Table* x);
Table ref_conv2d_causal(const Table* x);
Table ref_log_softmax(const Table* x);
Table ref_layer_norm(const Table* x);
Table ref_rms_norm(const Table* x);
Table ref_cross_entropy(const Table* x);
Table ref_cross_entropy_smooth(const Table* x);
Table ref_cross_entropy_none(const Table* x);
Table ref_bce_logits(const Table* x);
Table ref_mse(const Table* x);
Table ref_kl(const Table* x);
Table ref_top_k_mask(const Table* x);
Table ref_select(const Table* x);
Table ref_recompute(const Table* x);  // tanh(a ∘ b)

// op_reference_positions.cpp
Table ref_rotary(const Table* x);
Table ref_rotary_half(const Table* x);
Table ref_rotary_heads(const Table* x);  // three sequences, two heads
Table ref_gather_entries(const Table* x);
Table ref_scatter_entries(const Table* x);
// op_reference_weights.cpp
Table ref_entmax(const Table& x, double alpha);  // any alpha above 1
Table ref_sparsemax(const Table* x);
Table ref_entmax15(const Table* x);
// op_reference_flash.cpp
Table ref_attention_causal(const Table* x);  // the last query sees every key
Table ref_attention_and_L(const Table* x);   // [Y | ln Σ_j e^(E_ij)]
Table ref_attention_heads(const Table* x);   // three sequences, six heads on two key heads, and L
Table ref_attention_heads_causal(const Table* x);
Table ref_attention_heads_masked(const Table* x);  // a mask for each sequence
// op_reference_efficient.cpp
Table ref_elu_plus_one(const Table* x);
Table ref_depthwise_back(const Table* x);
Table ref_depthwise_centred(const Table* x);
Table ref_causal_sums(const Table* x);
Table ref_causal_sums_lagging(const Table* x);
