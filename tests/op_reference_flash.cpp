#include <cmath>

#include "tests/op_reference.h"

// Query i alone, with the keys up to `last`: Y_i = Σ_j e^(E_ij) V_j / Σ_j e^(E_ij), and the logarithm of the denominator.
static double attend(const Table* x, int i, int last, Table& y) {
  const Table &Q = x[0], &K = x[1], &V = x[2];
  double sum = 0;
  for (int j = 0; j <= last; ++j) {
    double score = 0;
    for (int c = 0; c < Q.cols; ++c) score += kFactor * Q(i, c) * K(j, c);
    sum += std::exp(score);
    for (int c = 0; c < V.cols; ++c) y(i, c) += std::exp(score) * V(j, c);
  }
  for (int c = 0; c < V.cols && last >= 0; ++c) y(i, c) /= sum;
  return std::log(sum);
}

Table ref_attention_causal(const Table* x) {
  Table y(x[0].rows, x[2].cols);
  for (int i = 0; i < y.rows; ++i) attend(x, i, i + x[1].rows - x[0].rows, y);
  return y;
}

Table ref_attention_and_L(const Table* x) {
  Table y(x[0].rows, x[2].cols + 1);
  for (int i = 0; i < y.rows; ++i) y(i, y.cols - 1) = attend(x, i, x[1].rows - 1, y);
  return y;
}

// Three sequences, six heads on two key heads (fewer where a size is 1), entry by entry of the whole matrices.
enum class Heads { with_L, causal, masked };
static Table attend_heads(const Table* x, Heads kind) {
  const Table &Q = x[0], &K = x[1], &V = x[2];
  const int batch = Q.rows == 1 ? 1 : 3, kv_heads = K.cols == 1 || V.cols == 1 ? 1 : 2, heads = 3 * kv_heads;
  const int n = Q.rows / batch, m = K.rows / batch, d = Q.cols / heads, d_v = V.cols / kv_heads;
  Table y(Q.rows, heads * d_v + (kind == Heads::with_L ? heads : 0));
  for (int row = 0; row < Q.rows; ++row) {
    for (int h = 0; h < heads; ++h) {
      double sum = 0;
      for (int j = 0; j < m; ++j) {
        if (kind == Heads::masked && !sees(row, j)) continue;
        if (kind == Heads::causal && j > row % n + m - n) continue;
        const int key = row / n * m + j, g = h / 3;
        double score = 0;
        for (int c = 0; c < d; ++c) score += kFactor * Q(row, h * d + c) * K(key, g * d + c);
        sum += std::exp(score);
        for (int c = 0; c < d_v; ++c) y(row, h * d_v + c) += std::exp(score) * V(key, g * d_v + c);
      }
      for (int c = 0; c < d_v && sum > 0; ++c) y(row, h * d_v + c) /= sum;
      if (kind == Heads::with_L) y(row, heads * d_v + h) = std::log(sum);
    }
  }
  return y;
}

Table ref_attention_heads(const Table* x) { return attend_heads(x, Heads::with_L); }
Table ref_attention_heads_causal(const Table* x) { return attend_heads(x, Heads::causal); }
Table ref_attention_heads_masked(const Table* x) { return attend_heads(x, Heads::masked); }
