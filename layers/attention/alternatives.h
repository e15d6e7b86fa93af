// Attention without the softmax, or with a changed one. Each is a few lines of ops; the scores are S = Q Kᵀ / √d.
//
//                     weights A                                          rows of A
//   SigmoidAttention  σ(S + b), each on its own            b = -ln n     any sum: not a mixture
//   OffByOne          e^S / (1 + Σ e^S)                                  sum below 1: the rest goes nowhere
//   LearnedSink       e^S / (e^s + Σ e^S)                  s: learned    sum below 1
//   SoftCap           softmax(c tanh(S / c)), then masked  c: fixed      sum 1, all positive
//   Sparsemax         max(S - τ, 0)                                      sum 1, many exact zeros
//   Entmax15          max(S / 2 - τ, 0)²                                 sum 1, some exact zeros
//
// Then Y = A V. Hidden pairs have the weight 0, and a query that sees no key gives a row of zeros.
#pragma once

#include <string>

#include "engine/params.h"
#include "layers/attention/plain.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Ramapuram et al. 2024, "Theory, Analysis, and Best Practices for Sigmoid Self-Attention". No key competes with another.
// With b = 0 a row would sum to n / 2 at the start; b = -ln n makes it about 1. `longest`: the maximal length, also under
// a mask. The paper keeps b fixed; here it is a parameter, so that its gradient can be seen.
struct SigmoidAttention final : Variant {
  Param* b;
  SigmoidAttention(ParamStore&, const std::string& suffix, int longest, Rng&);  // makes "b" + suffix, 1 x 1
  const char* name() const override { return "sigmoid"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// Miller 2023, "Attention Is Off By One": a head may attend to nothing. The same as one more key with the score 0 and
// the value 0, and that is how it is computed: softmax([S | 0]) without its last column.
struct OffByOne final : Variant {
  const char* name() const override { return "off by one"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// As in gpt-oss (2025): the extra score is learned, one for each head. softmax([S | s]) without its last column.
struct LearnedSink final : Variant {
  Param* s;
  LearnedSink(ParamStore&, const std::string& suffix, int heads, Rng&);  // makes "s" + suffix, 1 x heads, zeros
  const char* name() const override { return "learned sink"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

// Gemma Team 2024, "Gemma 2", section 2: scores stay within ±cap. The cap comes BEFORE the mask: after it, tanh would
// turn -inf into -cap, and hidden keys would get weight.
struct SoftCap final : Variant {
  double cap;
  explicit SoftCap(double c = 50);  // throws InputError unless c > 0
  const char* name() const override { return "soft cap"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

struct Sparsemax final : Variant {  // engine/ops/sparsemax.cpp
  const char* name() const override { return "sparsemax"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

struct Entmax15 final : Variant {  // engine/ops/entmax15.cpp
  const char* name() const override { return "entmax 1.5"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
