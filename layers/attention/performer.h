// Performer: random features whose dot product is, on average, the exponential that softmax uses.
#pragma once

#include "engine/rng.h"
#include "layers/attention/linear_attention.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   φ(x)_r = exp(w_r·x − |x|²/2) / √M        w_r ~ N(0, 1) in d dimensions, r = 1 ... M
//   mean of φ(x)·φ(y) over the draws = exp(x·y)
//
// With x = q / d^¼ and y = k / d^¼ that is exp(q·k / √d), the kernel of softmax. The rest is linear attention with these features
// (ε = 0). The error falls like 1/√M.
//
// So that exp neither overflows nor vanishes, a query subtracts the largest of its exponents: the factor cancels in the division. The
// keys must subtract ONE number for all of them: a number for each key would not cancel. It is the largest exponent of all, or, in a
// causal call, max |w_r|²/2: no exponent exceeds that, and it does not depend on keys of the future.
// (The paper takes the maxima of w_r·x alone. That cancels too, but a long x still vanishes.)
//
// Choromanski et al. 2020, "Rethinking Attention with Performers", section 2 (FAVOR+).

// How the rows w_r are drawn.
//   iid          each by itself
//   orthogonal   blocks of d rows at right angles, each row with the length of a fresh normal row: a smaller error
//   raw_qr       THE MISTAKE, to be shown: Q of a QR decomposition without the signs of R's diagonal. It is not uniform
//                (the first number of each block is never positive), and the estimate is biased.
enum class Draw { iid, orthogonal, raw_qr };
Matrix random_features(Draw, int M, int d, Rng&);  // M x d

enum class Shift { none, each_row, one_for_all, bound };  // subtract nothing, the maximum of each row, that of all, max |w_r|²/2
Var positive_features(Var x, Mat W, Shift);  // n x M; lines "w", "H" = x wᵀ and "F"

struct Performer final : Variant {
  Matrix W;  // frozen: drawn once, the same in every replay
  LinearForm form = LinearForm::sums;
  bool stable = true;  // subtract as above

  explicit Performer(Matrix features, LinearForm f = LinearForm::sums) : W(std::move(features)), form(f) {}
  const char* name() const override { return "performer"; }
  Supports supports() const override { return LinearAttention::supports_of(form); }

 protected:
  Var attend(Var Q, Var K, Var V, const Call&) const override;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
