// Stacks of encoder blocks: the last norm, and recomputing instead of keeping.
#include "layers/encoder.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;


TEST_CASE("encoder: a stack of pre-norm blocks ends with a norm, one of post-norm blocks does not") {
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    Tape tape;
    ParamStore store;
    Rng rng(5);
    Encoder encoder(store, "", 3, {.C = 4, .heads = 2, .hidden = 6, .norm = place}, rng);
    const Matrix dY = cosines({5, 4}, 1, 2, 3, 1);
    const Var X = tape.input(sines({5, 4}, 1, 3, 1), "X"), Y = encoder(X);
    tape.backward(Y, dY);
    for (int i = 0; i < 5; ++i) {
      double mean = 0;
      for (int c = 0; c < 4; ++c) mean += double(Y.value()(i, c)) / 4;
      CHECK(mean == Approx(0).margin(1e-6));  // both ends are norms with gain 1 and bias 0
    }
    CHECK((store.find("gain") != nullptr) == (place == NormPlace::pre));
    CHECK(std::string(tape.node(tape.find("R1")).scope).rfind("layer 2", 0) == 0);
    CHECK(gradient_gap(tape, Y, dY, X).ok());
    CHECK(gradient_gap(tape, Y, dY, tape.find("W_q.0")).ok());
  }
}

namespace {
// One step of a stack of six blocks with dropout.
struct Step6 {
  ParamStore store;
  Rng rng{7};
  Encoder encoder;
  Tape tape;
  Var X, Y;
  std::size_t peak;

  explicit Step6(int recompute_every, bool other_input = false)
      : encoder(store, "", 6, {.C = 8, .heads = 2, .hidden = 16, .activation = Activation::gelu, .dropout = 0.25}, rng) {
    encoder.recompute_every = recompute_every;
    static const Mask causal = Mask::causal(12, 12);
    X = tape.input(sines({12, 8}, 1, 3, 1), "X");
    Y = encoder(X, {.mask = &causal});
    if (other_input) tape.set(X, cosines({12, 8}, 1, 3, 1)), tape.replay();
    tape.backward(Y, cosines({12, 8}, 1, 2, 3, 1));
    peak = tape.peak_bytes();
  }
};
}  // namespace

TEST_CASE("encoder: recomputed segments give the same values and gradients, bit for bit, with less memory") {
  Step6 kept(0);
  for (const int k : {1, 2, 3, 4, 6}) {
    CAPTURE(k);
    Step6 again(k);
    CHECK(bit_difference(again.Y.value(), kept.Y.value()) == "");
    CHECK(bit_difference(again.X.grad(), kept.X.grad()) == "");
    for (const Param& p : kept.store.all) {
      CAPTURE(p.name);
      CHECK(bit_difference(again.store.find(p.name)->grad, p.grad) == "");
    }
    if (k < 6) CHECK(again.peak < kept.peak);
  }
  CHECK(2 * Step6(2).peak < kept.peak);
}

TEST_CASE("encoder: a replay recomputes with the dropout of the recording") {
  Step6 kept(0, true), again(2, true);
  CHECK(bit_difference(again.Y.value(), kept.Y.value()) == "");
  CHECK(bit_difference(again.X.grad(), kept.X.grad()) == "");
  CHECK(gradient_gap(again.tape, again.Y, cosines({12, 8}, 1, 2, 3, 1), again.X, 20).ok());
  Encoder& encoder = again.encoder;  // afterwards the generators go on from where they were
  const Var first = encoder(again.X), second = encoder(again.X);
  CHECK(bit_difference(first.value(), second.value()) != "");
}

TEST_CASE("encoder: dropout on the weights is the same in the second run, too") {
  Matrix dX;
  std::uint32_t next = 0;
  for (const int k : {0, 2}) {
    Rng rng(7);
    ParamStore store;
    Encoder encoder(store, "", 4, {.C = 8, .heads = 2, .hidden = 16}, rng);
    Dropout drop(0.4, rng);
    const Dropped dropped(drop);
    for (EncoderBlock& block : encoder.blocks) block.attention.variant = &dropped;
    encoder.recompute_every = k;
    Tape tape;
    const Var X = tape.input(sines({5, 8}, 1, 3, 1), "X");
    tape.backward(encoder(X), cosines({5, 8}, 1, 2, 3, 1));
    const std::uint32_t drawn = drop.rng.bits();  // the generator goes on from where it was
    if (k) CHECK(bit_difference(X.grad(), dX) == "");
    if (k) CHECK(drawn == next);
    dX = Matrix(X.grad());
    next = drawn;
  }
}
