// What a trained model does with texts that are longer than those of its training.
#include <cmath>
#include <vector>

#include "layers/attention/multi_head.h"
#include "layers/embedding.h"
#include "layers/optim/adamw.h"
#include "layers/optim/schedule.h"
#include "layers/positional/alibi.h"
#include "layers/positional/sinusoidal.h"
#include "tests/catch.h"

using namespace glass;

static constexpr int kWidth = 16, kHeads = 4, kTrained = 16;

namespace {
// A text of lamps and letters: 0 and 1 switch the lamp off and on, 2 and 3 do nothing. Is the lamp on, at each place?
// The last switch counts, wherever the earlier ones were.
struct Text {
  std::vector<int> tokens, lamp;
  void add(int n, Rng& rng) {
    for (int i = 0; i < n; ++i) {
      const double u = rng.uniform();
      const int token = u < 0.1 ? 0 : u < 0.2 ? 1 : u < 0.6 ? 2 : 3;
      tokens.push_back(i == 0 ? token % 2 : token);
      lamp.push_back(tokens.back() < 2 ? tokens.back() : lamp.back());
    }
  }
};

struct Model {
  ParamStore store;
  Rng rng{3};
  bool waves;
  Alibi alibi;
  Embedding embed{store, "tokens", 4, kWidth, rng};
  MultiHeadAttention attend{store, "", kWidth, kHeads, rng};
  Linear out{store, "_out", kWidth, 2, rng};

  explicit Model(bool w) : waves(w) {
    if (!waves) attend.variant = &alibi;
  }

  Var loss(Tape& tape, const Text& text, int batch) const {
    const Var X = scale(embed(tape, text.tokens), waves ? 1 / std::sqrt(double(kWidth)) : 1);
    const Mask causal = Mask::causal(int(text.tokens.size()) / batch, int(text.tokens.size()) / batch);
    const Var Y = attend(waves ? SinusoidalPositions()(X, batch) : X, {.batch = batch, .mask = &causal});
    return cross_entropy(out(Y), text.lamp.data(), int(text.lamp.size()));
  }

  void train(int steps) {
    AdamW adamw(store, 0, 0);
    const WarmupCosine rate{0.02, 20, steps};
    Tape tape;
    for (int t = 1; t <= steps; ++t) {
      Text text;
      for (int b = 0; b < 8; ++b) text.add(kTrained, rng);
      tape.rewind();
      const Var L = loss(tape, text, 8);
      store.zero_grad();
      tape.backward(L);
      adamw.rate = rate(t);
      adamw.step();
    }
  }

  double loss_at(int n) const {  // over new texts of n tokens
    Rng other(7);
    Text text;
    for (int b = 0; b < 20; ++b) text.add(n, other);
    Tape tape;
    return double(loss(tape, text, 20).value()(0, 0));
  }
};
}  // namespace

TEST_CASE("positions: trained with 16 places, waves fail at 32 and 64, slopes do not") {
  Model waves(true), slopes(false);
  waves.train(250);
  slopes.train(250);
  const double w1 = waves.loss_at(kTrained), w2 = waves.loss_at(2 * kTrained), w4 = waves.loss_at(4 * kTrained);
  const double s1 = slopes.loss_at(kTrained), s2 = slopes.loss_at(2 * kTrained), s4 = slopes.loss_at(4 * kTrained);
  INFO("waves " << w1 << " " << w2 << " " << w4 << ", slopes " << s1 << " " << s2 << " " << s4);
  CHECK(w1 < 0.05);  // learned; a guess has ln 2 = 0.69
  CHECK(w2 > 0.4);
  CHECK(w4 > 0.7);   // worse than a guess
  CHECK(s1 < 0.35);  // less sure, but of the same everywhere
  CHECK(s4 < 0.45);
}
