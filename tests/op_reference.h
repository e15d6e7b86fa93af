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
// Which query sees which key: query 1 sees none, key 2 is seen by none, the others see more and more keys.
bool sees(int query, int key);
// Rows to gather from a table: the last comes twice, the order is not the table's.
std::vector<int> rows_to_gather(int table_rows);

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
