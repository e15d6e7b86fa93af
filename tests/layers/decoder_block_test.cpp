// Decoder blocks: printed numbers, PyTorch (tests/reference/listing_encoder.py), differences, the future.
#include "layers/decoder_block.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/block_parameters.h"
#include "tests/reference_file.h"

using namespace glass;

TEST_CASE("decoder block: pre-norm and post-norm, to ten digits") {
  const Matrix pre{{0.1381878186, 0.6583478631, 0.5732259185, -0.0389172921},
                   {0.4287071545, -0.5885090515, -1.0646527496, -0.5619596196},
                   {-0.0674363246, 0.7579598438, 0.8864912273, 0.1999866647}};
  const Matrix post{{-1.0163094213, 0.9920306688, 1.0077929983, -0.9835142458},
                    {1.5260644205, -0.5184651628, -1.1726219824, 0.1650227247},
                    {-1.4596950896, 0.6272172927, 1.1676811962, -0.3352033993}};
  const Mask causal = Mask::causal(3, 3);
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    Tape tape;
    ParamStore store;
    Rng rng(1);
    DecoderBlock block(store, "", {.C = 4, .heads = 2, .hidden = 6, .norm = place, .activation = Activation::gelu, .bias = Bias::no}, rng);
    set_attention(store, "_self", 0.3);
    set_attention(store, "_cross", 0.6);
    store.find("W_1")->set(cosines({4, 6}, 0.5, 1, 3, 0.2));
    store.find("W_2")->set(sines({6, 4}, 0.5, 2, 1, 0.4));
    const Var Z = tape.input(cosines({5, 4}, 1, 1, 2, 0.25), "Z");
    const Var Y = block(tape.input(sines({3, 4}, 1, 3, 1), "X"), Z, {.mask = &causal});
    CHECK(difference(Y.value(), place == NormPlace::pre ? pre : post) == "");
  }
}

TEST_CASE("decoder block: a batch of two gives PyTorch's values and gradients") {
  const ReferenceFile torch("listing_encoder.txt");
  const Mask causal = Mask::causal(5, 5);
  const Mask padding[] = {Mask::visible({true, true, false}, 5), Mask(5, 3)};
  const Matrix dY = cosines({10, 4}, 1, 2, 3, 1);
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    const std::string prefix = place == NormPlace::pre ? "pre_decoder." : "post_decoder.";
    Tape tape;
    ParamStore store;
    Rng rng(1);
    DecoderBlock block(store, "", {.C = 4, .heads = 2, .hidden = 6, .norm = place}, rng);
    set_attention(store, "_self", 0.3);
    set_attention(store, "_cross", 0.6);
    set_rest(store, 3);
    const Var X = tape.input(sines({10, 4}, 1, 3, 1), "X"), Z = tape.input(cosines({6, 4}, 1, 1, 2, 0.25), "Z");
    const Var Y = block(X, Z, {.batch = 2, .mask = &causal}, {.batch = 2, .mask = padding, .mask_each = true});
    tape.backward(Y, dY);
    CHECK(difference(Y.value(), torch[prefix + "Y"], kRounding) == "");
    CHECK(difference(X.grad(), torch[prefix + "dX"], kRounding) == "");
    CHECK(difference(Z.grad(), torch[prefix + "dZ"], kRounding) == "");
    CHECK(all_zero(Z.grad().block(2, 0, 1, 4)));  // padding
    CHECK(store.all.size() == 26);
    for (const Param& p : store.all) {
      CAPTURE(prefix, p.name);
      CHECK(difference(p.grad, torch[prefix + "d" + p.name], kRounding) == "");
    }
    for (const char* name : {"X", "Z", "R1", "R2", "W_q_self", "W_k_cross", "gain_3"}) {
      CAPTURE(name);
      CHECK(gradient_gap(tape, Y, dY, tape.find(name)).ok());
    }
  }
}

TEST_CASE("decoder block: a later word leaves the earlier rows as they are, bit for bit; any word of the memory moves all") {
  const Mask causal = Mask::causal(5, 5);
  Rng rng(2);
  ParamStore store;
  DecoderBlock block(store, "", {.C = 4, .heads = 2}, rng, 6);  // a memory of another width
  Matrix x = sines({5, 4}, 1, 3, 1), z = cosines({3, 6}, 1, 1, 2, 0.25);
  Tape tape;
  const Matrix before(block(tape.input(x, "X"), tape.input(z, "Z"), {.mask = &causal}).value());
  x(4, 1) += 1;
  const Matrix later(block(tape.input(x, "X"), tape.input(z, "Z"), {.mask = &causal}).value());
  CHECK(bit_difference(later.view().block(0, 0, 4, 4), before.view().block(0, 0, 4, 4)) == "");
  CHECK(bit_difference(later.view().block(4, 0, 1, 4), before.view().block(4, 0, 1, 4)) != "");
  z(2, 0) += 1;
  const Matrix other(block(tape.input(x, "X"), tape.input(z, "Z"), {.mask = &causal}).value());
  for (int i = 0; i < 5; ++i) CHECK(bit_difference(other.view().block(i, 0, 1, 4), later.view().block(i, 0, 1, 4)) != "");
}

TEST_CASE("decoder block: dropout in four places, none in evaluation") {
  Rng rng(3);
  ParamStore store;
  DecoderBlock block(store, "", {.C = 4, .heads = 2, .dropout = 0.5}, rng);
  Tape tape;
  const Var X = tape.input(sines({3, 4}, 1, 3, 1), "X"), Z = tape.input(cosines({3, 4}, 1, 1, 2, 0.25), "Z");
  block(X, Z, {});
  int drops = 0;
  for (const Node& node : tape.nodes) drops += std::string(node.op) == "dropout";
  CHECK(drops == 4);
  block.training(false);
  CHECK(bit_difference(block(X, Z, {}).value(), block(X, Z, {}).value()) == "");
}
