// A transformer decoder block: attention to the earlier words, attention to the encoder, a feed-forward network.
#pragma once

#include <string>

#include "layers/encoder_block.h"

namespace glass {
inline namespace GLASS_PRECISION {

//   pre:   R_1 = X + drop(self(norm_1(X)))                  post:   N_1 = norm_1(X + drop(self(X)))
//          R_2 = R_1 + drop(cross(norm_2(R_1), Z))                  N_2 = norm_2(N_1 + drop(cross(N_1, Z)))
//          R_3 = R_2 + drop(feed_forward(norm_3(R_2)))              N_3 = norm_3(N_2 + drop(feed_forward(N_2)))
//
//   X, Y: (batch n) x C     Z: (batch m) x C_z, the memory: what the encoder made of the source, the same in every layer
//
// Vaswani et al. 2017, section 3.1. Self-attention is causal (the mask in `self_cut`); in cross-attention every query may
// see all of Z but its padding (`cross_cut`). Z is read by every layer, so its gradients add up.
struct DecoderBlock {
  NormPlace place;
  MultiHeadAttention self, cross;
  FeedForward feed_forward;
  LayerNorm norm_1, norm_2, norm_3;
  Dropout drop_1, drop_2, drop_hidden, drop_3;

  // Parameters W_q_self, ..., W_q_cross, ..., W_1, b_1, ..., gain_1, ..., bias_3, each with the suffix. C_z = 0: C.
  DecoderBlock(ParamStore&, const std::string& suffix, const BlockSettings&, Rng&, int C_z = 0);
  Var operator()(Var X, Var Z, const Heads& self_cut, const Heads& cross_cut = {});  // lines N1, R1, ..., R3
  void training(bool on);
};

}  // namespace GLASS_PRECISION
}  // namespace glass
