// A GPT: predicts the next token at every place of a text, from the tokens up to there.
#pragma once

#include <string>
#include <vector>

#include "layers/attention/flash.h"
#include "layers/attention/kv_cache.h"
#include "layers/dropout.h"
#include "layers/embedding.h"
#include "layers/encoder_block.h"
#include "layers/layer_norm.h"

namespace glass {
inline namespace GLASS_PRECISION {

enum class Places {
  learned,  // a row for each place is added to the tokens: GPT-2
  rotary,   // queries and keys are turned by their place instead: layers/positional/rotary.h
};

struct GptSettings {
  int layers = 4, heads = 4, C = 64;
  int T = 64;          // the longest text that it sees at once
  int vocabulary = 0;  // V
  Bias bias = Bias::yes;                          // of the linear layers and the norms; the head has none
  bool tied = true;                               // the head is the table of tokens (Press and Wolf 2017)
  Places places = Places::learned;
  Activation activation = Activation::gelu_tanh;  // gelu_tanh, or gelu
  double dropout = 0;  // behind the embedding and at the end of both sub-layers. The attention weights have none: they are never stored
  double eps = 1e-5;   // of the norms
};

// One block. X: (B T) x C
//
//   N_1 = norm(X)    [Q | K | V] = N_1 W_qkv    R = X + heads W_o          causal, each head with its columns
//   N_2 = norm(R)    H = gelu(N_2 W_1)          Y = R + H W_2              W_qkv: C x 3C  W_o: C x C  W_1: C x 4C  W_2: 4C x C
//
// Three products with the same left side are one product with the matrices side by side.
struct GptBlock {
  LayerNorm norm_1, norm_2;
  Linear qkv, o, up, down;
  std::string scope;  // "layer 0"

  GptBlock(ParamStore&, int number, const GptSettings&, Rng&);
};

//   X_0 = tokens_(ids) + places        X_(l+1) = block_l(X_l)        Z = norm(X_L) Wᵀ        W: the table of tokens, or W_head
//   loss = -mean_t ln softmax(Z_t)_(next token)
//
// B sequences of T tokens are (B T) rows, sequence below sequence. Radford et al. 2019, "Language Models are Unsupervised Multitask
// Learners", section 2.3: norms come first, one more stands at the end, and every matrix starts normal with deviation 0.02, W_o and
// W_2 with 0.02 / √(2 layers), since 2 layers of them are added up. So at the start all tokens seem alike, and loss ≈ ln V.
//
// Parameters: "tokens" V x C, "places" T x C, then for layer l gain_1.l, bias_1.l, gain_2.l, bias_2.l, W_qkv.l, b_qkv.l, W_o.l, b_o.l,
// W_1.l, b_1.l, W_2.l, b_2.l, then "gain", "bias", and untied "W_head" C x V.
class Gpt {
 public:
  Gpt(ParamStore&, const GptSettings&, Rng&);  // throws InputError for settings that make no model

  // ids: `batch` sequences below each other, each of at most T tokens. Line "Z", (batch n) x V; a scope "layer l" for each block.
  Var logits(Tape&, const std::vector<int>& ids, int batch = 1);
  // targets: the token that comes next, for each row. Line "loss", 1 x 1
  Var loss(Tape&, const std::vector<int>& ids, const std::vector<int>& targets, int batch);
  // The same logits for the newest tokens of one text; the caches, one for each layer, have those before. n x V
  Var decode(Tape&, const std::vector<int>& ids, std::vector<KvCache>&);
  std::vector<KvCache> caches() const;  // empty ones, each for T tokens
  Backend& home() const;                // what its tapes must use: the CPU, or the device that its parameters live on

  void training(bool on) { drop_.training = on; }  // dropout on or off; it starts on
  bool training() const { return drop_.training; }

  const GptSettings settings;
  ParamStore& params;
  Embedding tokens;
  Param* places;           // nullptr: rotary
  std::vector<GptBlock> blocks;
  LayerNorm norm;
  Param* head;             // nullptr: tied

 private:
  Var run(Tape&, const std::vector<int>& ids, int batch, std::vector<KvCache>*);
  Var embed(Tape&, Var table, const std::vector<int>& ids, int batch, int first);
  Var attend(const GptBlock&, Var QKV, int batch, KvCache*);
  Dropout drop_;
  FlashAttention flash_;
  Mask causal_;            // of the last call
  std::vector<int> place_;
};

long parameters(const GptSettings&);  // how many numbers it learns

}  // namespace GLASS_PRECISION
}  // namespace glass
