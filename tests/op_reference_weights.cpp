#include <algorithm>
#include <cmath>

#include "tests/op_reference.h"

// Weights max((α - 1) e - τ, 0)^(1 / (α - 1)) that sum to 1, for any α above 1. The sum falls as τ grows, so halving an
// interval finds τ: no sorting, no support, no formula in common with the engine.
Table ref_entmax(const Table& x, double alpha) {
  Table y(x.rows, x.cols);
  for (int i = 0; i < x.rows; ++i) {
    double low = -HUGE_VAL;
    for (int j = 0; j < x.cols; ++j) low = std::max(low, (alpha - 1) * x(i, j) - 1);
    if (low == -HUGE_VAL) continue;
    double high = low + 1;
    for (int halving = 0; halving < 200; ++halving) {
      const double tau = (low + high) / 2;
      double sum = 0;
      for (int j = 0; j < x.cols; ++j) {
        y(i, j) = std::pow(std::max((alpha - 1) * x(i, j) - tau, 0.0), 1 / (alpha - 1));
        sum += y(i, j);
      }
      (sum >= 1 ? low : high) = tau;
    }
  }
  return y;
}

Table ref_sparsemax(const Table* x) { return ref_entmax(x[0], 2); }
Table ref_entmax15(const Table* x) { return ref_entmax(x[0], 1.5); }
