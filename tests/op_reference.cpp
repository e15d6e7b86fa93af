#include "tests/op_reference.h"

#include <algorithm>
#include <cmath>

bool sees(int query, int key) { return query != 1 && key != 2 && key <= 2 * query + 1; }

std::vector<int> rows_to_gather(int table_rows) {
  if (table_rows == 0) return {};
  const int last = table_rows - 1;
  return {last, 0, last, table_rows / 2};
}

// ---- entry by entry

Table ref_add(const Table* x) {
  Table y = x[0];
  for (std::size_t i = 0; i < y.entries.size(); ++i) y.entries[i] += x[1].entries[i];
  return y;
}

Table ref_sub(const Table* x) {
  Table y = x[0];
  for (std::size_t i = 0; i < y.entries.size(); ++i) y.entries[i] -= x[1].entries[i];
  return y;
}

Table ref_mul(const Table* x) {
  Table y = x[0];
  for (std::size_t i = 0; i < y.entries.size(); ++i) y.entries[i] *= x[1].entries[i];
  return y;
}

Table ref_div(const Table* x) {
  Table y = x[0];
  for (std::size_t i = 0; i < y.entries.size(); ++i) y.entries[i] /= x[1].entries[i];
  return y;
}

Table ref_neg(const Table* x) {
  Table y = x[0];
  for (double& entry : y.entries) entry = -entry;
  return y;
}

Table ref_scale(const Table* x) {
  Table y = x[0];
  for (double& entry : y.entries) entry *= kFactor;
  return y;
}

Table ref_exp(const Table* x) {
  Table y = x[0];
  for (double& entry : y.entries) entry = std::exp(entry);
  return y;
}

// ---- a row or a column against a matrix

Table ref_add_row(const Table* x) {
  Table y = x[0];
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) += x[1](0, j);
  return y;
}

Table ref_add_col(const Table* x) {
  Table y = x[0];
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) += x[1](i, 0);
  return y;
}

Table ref_sub_col(const Table* x) {
  Table y = x[0];
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) -= x[1](i, 0);
  return y;
}

Table ref_div_col(const Table* x) {
  Table y = x[0];
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) /= x[1](i, 0);
  return y;
}

// ---- reductions

Table ref_sum(const Table* x) {
  Table y(1, 1);
  for (double entry : x[0].entries) y(0, 0) += entry;
  return y;
}

Table ref_row_sum(const Table* x) {
  Table y(x[0].rows, 1);
  for (int i = 0; i < x[0].rows; ++i)
    for (int j = 0; j < x[0].cols; ++j) y(i, 0) += x[0](i, j);
  return y;
}

Table ref_col_sum(const Table* x) {
  Table y(1, x[0].cols);
  for (int i = 0; i < x[0].rows; ++i)
    for (int j = 0; j < x[0].cols; ++j) y(0, j) += x[0](i, j);
  return y;
}

Table ref_row_max(const Table* x) {
  Table y(x[0].rows, 1);
  for (int i = 0; i < x[0].rows; ++i) {
    const auto row = x[0].entries.begin() + i * x[0].cols;
    y(i, 0) = *std::max_element(row, row + x[0].cols);
  }
  return y;
}

// ---- products

static Table transposed(const Table& a) {
  Table t(a.cols, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.cols; ++j) t(j, i) = a(i, j);
  return t;
}

Table ref_matmul(const Table* x) {
  Table y(x[0].rows, x[1].cols);
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j)
      for (int k = 0; k < x[0].cols; ++k) y(i, j) += x[0](i, k) * x[1](k, j);
  return y;
}

Table ref_matmul_nt(const Table* x) {
  const Table operands[] = {x[0], transposed(x[1])};
  return ref_matmul(operands);
}

// ---- softmax: A_ij = 1 / Σ_k exp(e_ik - e_ij), which needs no maximum. A hidden pair does not take part.

static Table weights(const Table& scores, bool masked) {
  Table a(scores.rows, scores.cols);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) {
      if (masked && !sees(i, j)) continue;
      double sum = 0;
      for (int k = 0; k < a.cols; ++k)
        if (!masked || sees(i, k)) sum += std::exp(scores(i, k) - scores(i, j));
      a(i, j) = 1 / sum;
    }
  }
  return a;
}

Table ref_softmax(const Table* x) { return weights(x[0], false); }

// ---- choosing

Table ref_mask(const Table* x) {
  Table y = x[0];
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j)
      if (!sees(i, j)) y(i, j) = kOther;
  return y;
}

Table ref_drop_hidden(const Table* x) {
  Table y(x[0].rows, x[0].cols);
  for (int query = 0; query < kQueries; ++query)
    for (int i = 0; i < y.rows; ++i)
      for (int j = 0; j < y.cols; ++j)
        if (sees(query, i)) y(i, j) = x[0](i, j);
  return y;
}

Table ref_gather_rows(const Table* x) {
  const std::vector<int> ids = rows_to_gather(x[0].rows);
  Table y(int(ids.size()), x[0].cols);
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j < y.cols; ++j) y(i, j) = x[0](ids[std::size_t(i)], j);
  return y;
}

Table ref_detach(const Table* x) { return x[0]; }

// ---- attention

static Table attend(const Table* x, bool masked, bool only_weights) {
  Table scores = ref_matmul_nt(x);
  for (double& e : scores.entries) e *= kFactor;
  const Table a = weights(scores, masked);
  const Table operands[] = {a, x[2]};
  return only_weights ? a : ref_matmul(operands);
}

Table ref_attention(const Table* x) { return attend(x, false, false); }
Table ref_attention_masked(const Table* x) { return attend(x, true, false); }
Table ref_weights_of(const Table* x) { return attend(x, true, true); }
