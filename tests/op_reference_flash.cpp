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
