// What a training step is made of: an encoder layer, the optimiser, and a whole step of a GPT.
#include "layers/attention/flash.h"
#include "layers/encoder_block.h"
#include "layers/models/gpt.h"
#include "layers/optim/adamw.h"
#include "tests/bench/ours.h"

using namespace glass;

namespace bench {

static const FlashAttention flash;

static BlockSettings settings(int C, int heads, int hidden, Activation activation) {
  return {.C = C, .heads = heads, .hidden = hidden, .activation = activation, .fused = true};
}

// Pre-norm, no dropout, every key visible.
struct EncoderWork final : Work {
  int batch;
  Rng rng{1};
  ParamStore store;
  EncoderBlock block;
  Matrix X, dY;
  Tape tape;
  EncoderWork(int C, int heads, int hidden, int B, int T)
      : batch(B), block(store, "", settings(C, heads, hidden, Activation::gelu), rng), X(numbers(B * T, C, 1)), dY(numbers(B * T, C, 2)) {
    block.attention.variant = &flash;
  }
  void once() override {
    tape.rewind();
    store.zero_grad();
    tape.backward(block(tape.input(X, "X"), Heads{.batch = batch}), dY);
  }
};

// layers, C, heads, T, B, V: tokens and learned positions, pre-norm blocks with gelu_tanh, a last norm, an output without bias.
struct GptWork final : Work {
  Rng rng{1};
  ParamStore store;
  Gpt gpt;
  AdamW optimiser;
  int B;
  std::vector<int> ids, targets;
  Tape tape;
  GptWork(int layers, int C, int heads, int T, int batch, int V)
      : gpt(store, {.layers = layers, .heads = heads, .C = C, .T = T, .vocabulary = V, .tied = false}, rng), optimiser(store, 1e-3), B(batch) {
    for (int i = 0; i < B * T; ++i) {
      ids.push_back(int(rng.uniform(0, V)));
      targets.push_back(int(rng.uniform(0, V)));
    }
  }
  void once() override {
    tape.rewind();
    store.zero_grad();
    tape.backward(gpt.loss(tape, ids, targets, B));
    optimiser.step();
  }
  void figures(std::map<std::string, double>& out) override { out["bytes"] = double(tape.peak_bytes()); }
};

// The tensors of a GPT with one product for Q, K and V, and random gradients.
struct OptimiserWork final : Work {
  Rng rng{1};
  ParamStore store;
  std::unique_ptr<AdamW> optimiser;
  OptimiserWork(int layers, int C, int T, int V) {
    make(V, C);
    make(T, C);
    for (int l = 0; l < layers; ++l) {
      for (int norm = 0; norm < 4; ++norm) make(1, C);
      for (const Shape s : {Shape{C, 3 * C}, Shape{C, C}, Shape{C, 4 * C}, Shape{4 * C, C}}) {
        make(s.rows, s.cols);
        make(1, s.cols);
      }
    }
    make(1, C);
    make(1, C);
    make(C, V);
    optimiser = std::make_unique<AdamW>(store, 1e-4);
  }
  void make(int rows, int cols) {
    Param& p = store.make("p" + std::to_string(store.all.size()), {rows, cols}, Init::xavier, rng);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) p.grad(i, j) = Real(0.01 * rng.normal());
  }
  void once() override { optimiser->step(); }
};

std::unique_ptr<Work> training_work(const Request& r) {
  const std::vector<int>& s = r.size;
  if (r.is("encoder", 5)) return std::make_unique<EncoderWork>(s[0], s[1], s[2], s[3], s[4]);
  if (r.is("adamw", 4)) return std::make_unique<OptimiserWork>(s[0], s[1], s[2], s[3]);
  if (r.is("gpt", 6)) return std::make_unique<GptWork>(s[0], s[1], s[2], s[3], s[4], s[5]);
  return nullptr;
}

}  // namespace bench
