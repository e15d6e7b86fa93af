// Attention over depth: what a sub-layer reads is a mixture of what all earlier sub-layers gave, chosen token by token.
#pragma once

#include <string>
#include <vector>

#include "engine/ops.h"
#include "engine/params.h"

namespace glass {
inline namespace GLASS_PRECISION {

// A sub-layer is one attention or one feed-forward, with its own norm in front: v_l = f_l(norm(h_l)), l = 1 ... L. Its
// sources are v_0 = the embedding and v_1 ... v_(l-1), n x d each. Nothing is added up: h_l takes the place of the
// residual stream.
//
//   k_i = rms_norm(v_i, gain)     gain: 1 x d    one gain and one w for each sub-layer, and for the output
//   s_i = k_i w                   w: d x 1       the query: learned, the same for every token; no 1/√d
//   α   = softmax(s)              n x sources    each token on its own, over depth
//   h   = Σ_i α_i v_i             n x d          the values are not normalised
//
//   ds_i = α_i (dh·v_i - dh·h)    dw = Σ_i k_iᵀ ds_i    dv_i = α_i dh + what goes back through k_i
//
// Kimi Team 2026, "Attention Residuals", section 3. w starts at 0: then h is the mean of the sources, the residual sum
// divided by their number, and a norm in front of f_l does not see the difference.

// Lines "k" (of each source), "s", "alpha", "h".
Var attend_over_depth(const std::vector<Var>& sources, Var w, Var gain, double eps = 1e-6);

// The same h in two phases, of which the first can be done for all queries of a block at once, as it needs finished
// sources only:
//   h' = Σ α'_i v_i and ℓ = ln Σ e^(s_i) over the finished sources;    h = (1 - β) h' + β partial, β = sigmoid(s - ℓ)
Var attend_in_two_phases(const std::vector<Var>& finished, Var partial, Var w, Var gain, double eps = 1e-6);

struct DepthQuery {
  Param *w, *gain;
  double eps;
  // Makes "w" + suffix, zeros, and "gain" + suffix, ones.
  DepthQuery(ParamStore&, const std::string& suffix, int width, Rng&, double eps = 1e-6);
  Var operator()(const std::vector<Var>& sources) const;
};

// The queries of a network of `layers` sub-layers, and the last one for its output. In blocks of S sub-layers:
//
//   finished blocks count as one source each, the sum of their outputs (b_0 = the embedding);
//   within a block the sum so far is one more source. S = 1 is the full version. The last block may be shorter.
struct AttentionResiduals {
  int layers, block;
  std::vector<DepthQuery> queries;  // layers + 1
  AttentionResiduals(ParamStore&, const std::string& suffix, int layers, int width, Rng&, int block = 1);
};

//   DepthStream x(&residuals, embedding);
//   for each sub-layer f: x.write(f(norm(x.read())));
//   logits = head(norm(x.read()))
//
// Without residuals (nullptr) it is the usual residual stream: read() is the sum of all that was written.
class DepthStream {
 public:
  DepthStream(const AttentionResiduals* r, Var embedding) : r_(r), finished_{embedding} {}
  Var read() const;                  // h of the next sub-layer; after the last, of the output. A line "h"
  void write(Var output);            // what the sub-layer gave. Throws TapeError after the last
  std::vector<Var> sources() const;  // the finished blocks, and the sum so far of the one at work

 private:
  const AttentionResiduals* r_;
  std::vector<Var> finished_;
  Var partial_;
  int written_ = 0;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
