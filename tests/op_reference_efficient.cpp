// The ops of linear and low-rank attention.
#include <cmath>

#include "tests/op_reference.h"

Table ref_elu_plus_one(const Table* x) {
  Table y = x[0];
  for (double& entry : y.entries) entry = (entry > 0 ? entry : std::exp(entry) - 1) + 1;
  return y;
}

static Table convolved(const Table* x, int left) {
  const Table &in = x[0], &filter = x[1];
  Table y(in.rows, in.cols);
  for (int from = 0; from < in.rows; ++from)
    for (int k = 0; k < filter.rows; ++k)
      for (int c = 0; c < in.cols; ++c) {
        const int to = from - k + left;
        if (to >= 0 && to < in.rows) y(to, c) += in(from, c) * filter(k, c);
      }
  return y;
}
Table ref_depthwise_back(const Table* x) { return convolved(x, kTaps - 1); }
Table ref_depthwise_centred(const Table* x) { return convolved(x, (kTaps - 1) / 2); }

// By pairs: query t meets key j, and what lies too near or ahead does not count.
static Table sums(const Table* x, int lag) {
  const Table &a = x[0], &b = x[1], &V = x[2];
  Table y(a.rows, V.cols + 1);
  for (int t = 0; t < a.rows; ++t) {
    for (int j = 0; j < b.rows; ++j) {
      const int queries_after = a.rows - 1 - t, keys_after = b.rows - 1 - j;
      if (keys_after - queries_after < lag) continue;
      double both = 0;
      for (int r = 0; r < a.cols; ++r) both += a(t, r) * b(j, r);
      for (int c = 0; c < V.cols; ++c) y(t, c) += both * V(j, c);
      y(t, V.cols) += both;
    }
  }
  return y;
}
Table ref_causal_sums(const Table* x) { return sums(x, 0); }
Table ref_causal_sums_lagging(const Table* x) { return sums(x, kLag); }
