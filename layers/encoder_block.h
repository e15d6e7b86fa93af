// A transformer encoder block: attention, then a feed-forward network, each inside a residual connection with a norm.
#pragma once

#include <string>
#include <vector>

#include "layers/attention/multi_head.h"
#include "layers/dropout.h"
#include "layers/feed_forward.h"
#include "layers/layer_norm.h"

namespace glass {
inline namespace GLASS_PRECISION {

// Where the norm stands. `post` is Vaswani et al. 2017 and BERT; `pre` is GPT-2 and after (Xiong et al. 2020, "On Layer
// Normalization in the Transformer Architecture", figure 1).
enum class NormPlace { pre, post };

struct BlockSettings {
  int C = 0;                   // the width
  int heads = 1, kv_heads = 0;
  int hidden = 0;              // of the feed-forward network; 0: 4 C
  NormPlace norm = NormPlace::pre;
  Activation activation = Activation::relu;
  Bias bias = Bias::yes;
  double dropout = 0;
  double eps = 1e-5;           // of the norms
  bool fused = false;          // a linear layer is one line of the tape (with a bias), not two
};

//   pre:   R_1 = X + drop(attention(norm_1(X)))         post:   N_1 = norm_1(X + drop(attention(X)))
//          R_2 = R_1 + drop(feed_forward(norm_2(R_1)))          N_2 = norm_2(N_1 + drop(feed_forward(N_1)))
//
//   X, Y: (batch n) x C       feed_forward(N) = drop(act(N W_1 + b_1)) W_2 + b_2
//
// In `pre` nothing stands on the way from the end to X but additions: dX = dR_1 + what comes back through the sub-layers.
// In `post` every gradient passes through both norms. A stack of `pre` blocks ends with a norm of its own (encoder.h).
// Parameters: 4 C² in attention, 8 C² in a feed-forward network of width 4 C, 12 C² in all, biases and norms aside.
struct EncoderBlock {
  NormPlace place;
  MultiHeadAttention attention;
  FeedForward feed_forward;
  LayerNorm norm_1, norm_2;
  Dropout drop_1, drop_hidden, drop_2;  // behind attention, inside the feed-forward network, behind it

  // Parameters of the parts, each with the suffix: W_q, ..., W_1, b_1, ..., gain_1, bias_1, gain_2, bias_2.
  EncoderBlock(ParamStore&, const std::string& suffix, const BlockSettings&, Rng&);
  Var operator()(Var X, const Heads& cut = {});  // lines "N1", "R1", "N2", "R2" and those of the parts
  void training(bool on);                        // dropout on or off; it starts on
  std::vector<Param*> parameters() const;
};

}  // namespace GLASS_PRECISION
}  // namespace glass
