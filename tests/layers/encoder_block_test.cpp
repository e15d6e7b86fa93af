// Encoder blocks: printed numbers, PyTorch (tests/reference/listing_encoder.py), differences, dropout.
#include "layers/encoder_block.h"

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/block_parameters.h"
#include "tests/reference_file.h"

using namespace glass;

static const ReferenceFile& torch_file() {
  static const ReferenceFile file("listing_encoder.txt");
  return file;
}

TEST_CASE("encoder block: pre-norm and post-norm, to ten digits") {
  const Matrix post{{-1.1313433852, 0.9282675760, 1.0601091038, -0.8570332945},
                    {1.3815610030, -0.7237490090, -1.1508158202, 0.4930038261},
                    {-1.5298915477, 0.5109740189, 1.1724789228, -0.1535613940}};
  const Matrix pre{{-0.0279713335, 0.8267254783, 0.9213346980, 0.1688730453},
                   {0.1558842483, -0.6776810238, -0.8881894878, -0.2821006329},
                   {-0.2563354466, 0.6725063526, 0.9830489126, 0.3897808360}};
  for (const NormPlace place : {NormPlace::pre, NormPlace::post}) {
    Tape tape;
    ParamStore store;
    Rng rng(1);
    EncoderBlock block(store, "", {.C = 4, .heads = 2, .hidden = 6, .norm = place, .activation = Activation::gelu, .bias = Bias::no}, rng);
    set_attention(store, "", 0);
    store.find("W_1")->set(cosines({4, 6}, 0.5, 1, 3, 0.2));
    store.find("W_2")->set(sines({6, 4}, 0.5, 2, 1, 0.4));
    const Var Y = block(tape.input(sines({3, 4}, 1, 3, 1), "X"));
    CHECK(difference(Y.value(), place == NormPlace::pre ? pre : post) == "");
  }
}

static void check_gradients(const ParamStore& store, const std::string& prefix) {
  for (const Param& p : store.all) {
    CAPTURE(prefix, p.name);
    CHECK(difference(p.grad, torch_file()[prefix + ".d" + p.name], kRounding) == "");
  }
}

TEST_CASE("encoder block: a batch of two, causal and padded, gives PyTorch's values and gradients") {
  for (const int way : {0, 1, 2, 3}) {
    const NormPlace place = way % 2 ? NormPlace::post : NormPlace::pre;
    const std::string prefix = place == NormPlace::pre ? "pre" : "post";
    Tape tape;
    ParamStore store;
    Rng rng(1);
    EncoderBlock block(store, "", {.C = 4, .heads = 2, .hidden = 6, .norm = place, .activation = Activation::gelu, .fused = way > 1}, rng);
    set_attention(store, "", 0);
    set_rest(store, 2);
    const Mask masks[] = {Mask::causal(5, 5), Mask::causal(5, 5) & Mask::visible({true, true, true, true, false}, 5)};
    const Var X = tape.input(sines({10, 4}, 1, 3, 1), "X");
    const Var Y = block(X, {.batch = 2, .mask = masks, .mask_each = true});
    tape.backward(Y, cosines({10, 4}, 1, 2, 3, 1));
    CHECK(difference(Y.value(), torch_file()[prefix + ".Y"], kRounding) == "");
    CHECK(difference(X.grad(), torch_file()[prefix + ".dX"], kRounding) == "");
    CHECK(store.all.size() == 16);
    check_gradients(store, prefix);
    const Matrix dY = cosines({10, 4}, 1, 2, 3, 1);
    for (const char* name : {"X", "R1", "N1", "N2", "W_q", "b_1", "gain_2"}) {
      CAPTURE(name);
      CHECK(gradient_gap(tape, Y, dY, tape.find(name)).ok());
    }
  }
}

TEST_CASE("encoder block: a published listing (pre-norm, ReLU, hidden width 2048) gives the same") {
  Tape tape;
  ParamStore store;
  Rng rng(1);
  EncoderBlock block(store, "", {.C = 4, .heads = 2, .hidden = 2048}, rng);
  set_attention(store, "", 0);
  set_rest(store, 2);
  const Mask causal = Mask::causal(5, 5);
  const Var X = tape.input(sines({5, 4}, 1, 3, 1), "X");
  const Var Y = block(X, {.mask = &causal});
  tape.backward(Y, cosines({5, 4}, 1, 2, 3, 1));
  Matrix ramp(Shape{2048, 1});
  for (int k = 0; k < 2048; ++k) ramp(k, 0) = Real(std::cos(0.7 * k + 0.3));
  for (Param& p : store.all) {  // the file holds products of the wide gradients with the ramp
    Matrix shorter(p.grad);
    if (p.grad.cols() == 2048) {
      shorter = Matrix(Shape{p.grad.rows(), 1});
      cpu_backend().matmul(Product::NN, p.grad, ramp, shorter, false);
    } else if (p.grad.rows() == 2048) {
      shorter = Matrix(Shape{1, p.grad.cols()});
      cpu_backend().matmul(Product::TN, ramp, p.grad, shorter, false);
    }
    CAPTURE(p.name);
    const Tolerance wide = kDouble ? kRounding : Tolerance{1e-5, 1e-4};  // sums over 2048 products in float
    CHECK(difference(shorter, torch_file()["listing.d" + p.name], wide) == "");
  }
  CHECK(difference(Y.value(), torch_file()["listing.Y"], kDouble ? kRounding : Tolerance{1e-5, 1e-4}) == "");
  CHECK(difference(X.grad(), torch_file()["listing.dX"], kDouble ? kRounding : Tolerance{1e-5, 1e-4}) == "");
}

TEST_CASE("encoder block: 12 C² weights whatever the number of heads is") {
  for (const int heads : {1, 2, 4}) {
    ParamStore store;
    Rng rng(1);
    EncoderBlock block(store, "", {.C = 8, .heads = heads, .bias = Bias::no}, rng);
    long weights = 0;
    for (const Param& p : store.all)
      if (p.name[0] == 'W') weights += long(count(p.value.shape()));
    CHECK(weights == 12 * 8 * 8);
  }
}

TEST_CASE("encoder block: dropout in three places, none in evaluation, the same again in a replay") {
  const Matrix x = sines({5, 4}, 1, 3, 1);
  Rng rng(4);
  ParamStore store;
  EncoderBlock block(store, "", {.C = 4, .heads = 2, .dropout = 0.5}, rng);
  Rng again(4);
  ParamStore same;
  EncoderBlock without(same, "", {.C = 4, .heads = 2, .dropout = 0}, again);
  for (Param& p : same.all) p.set(store.find(p.name)->value);
  Tape tape;
  const Var X = tape.input(x, "X"), training = block(X);
  const Matrix first(training.value());
  int drops = 0;
  for (const Node& node : tape.nodes) drops += std::string(node.op) == "dropout";
  CHECK(drops == 3);
  tape.replay();
  CHECK(bit_difference(training.value(), first) == "");
  CHECK(bit_difference(block(X).value(), first) != "");  // a new call draws anew
  block.training(false);
  CHECK(bit_difference(block(X).value(), without(X).value()) == "");
  const Var last = block(X);
  CHECK(bit_difference(last.value(), block(X).value()) == "");
}
