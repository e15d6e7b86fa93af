// What the tests of relative positions share: one head of five tokens, and PyTorch's two heads.
#pragma once

#include <string>

#include "layers/attention/multi_head.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Five queries and keys of width 4, values of width 3.
struct FiveTokens {
  Tape tape;
  Var Q, K, V, Y;
  Matrix dY;

  explicit FiveTokens(const Variant&, const Mask* allowed = nullptr, int heads = 1);
  double fingerprint_of_gradient(const char* line);
};

// Row t of the result, computed alone from the keys and values up to t, is row t of the causal matrix.
void check_decoding(const Variant&);

// 4 queries, the last of 6 positions, two heads of width 4, causal: as tests/reference/positions.txt under `name`.
void check_against_torch(const Variant&, const std::string& name);

// A key that no query may see holds NaN: no bit of the result or of the gradients knows.
void check_hidden_nan(const Variant&);

// The gradient of a table against differences, with and without a mask.
void check_parameter(const Variant&, Param&);

}  // namespace GLASS_PRECISION
}  // namespace glass
