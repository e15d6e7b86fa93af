#include "layers/feed_forward.h"

#include <cmath>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

static const Activation kAll[] = {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::swiglu};

static void set_all(ParamStore& store, Rng& rng) {
  for (Param& p : store.all) p.set(random_matrix(p.value.shape(), rng));
}

TEST_CASE("feed-forward: parameters, their names and shapes") {
  Rng rng(1);
  ParamStore store;
  const FeedForward plain(store, " 1", 3, 5, Activation::relu, rng);
  const FeedForward bare(store, " 2", 3, 5, Activation::gelu, rng, Bias::no);
  CHECK(store.all.size() == 6);
  CHECK(store.find("W_1 1")->value.shape() == Shape{3, 5});
  CHECK(store.find("b_1 1")->value.shape() == Shape{1, 5});
  CHECK(store.find("W_2 1")->value.shape() == Shape{5, 3});
  CHECK(store.find("b_2 1")->value.shape() == Shape{1, 3});
  CHECK(plain.W_gate == nullptr);
  CHECK(bare.up.b == nullptr);
  CHECK(bare.down.b == nullptr);
}

TEST_CASE("feed-forward: swiglu has three matrices and no biases") {
  Rng rng(1);
  ParamStore store;
  const FeedForward net(store, "_a", 3, 2, Activation::swiglu, rng);
  CHECK(store.all.size() == 3);
  CHECK(net.W_gate == store.find("W_gate_a"));
  CHECK(net.W_gate->value.shape() == Shape{3, 2});
  CHECK(store.find("W_up_a")->value.shape() == Shape{3, 2});
  CHECK(store.find("W_down_a")->value.shape() == Shape{2, 3});
  CHECK_THROWS_WITH(FeedForward(store, "_b", 3, 2, Activation::swiglu, rng, Bias::yes), ContainsSubstring("swiglu"));
  CHECK(store.all.size() == 3);  // nothing was made before the error
}

TEST_CASE("feed-forward: Y is what its formula says, written with ops") {
  Rng rng(2);
  for (Activation activation : kAll) {
    ParamStore store;
    const FeedForward net(store, "", 3, 5, activation, rng);
    set_all(store, rng);
    Tape tape;
    const Var X = tape.input(random_matrix({4, 3}, rng), "X");
    const Var Y = net(X);
    Var want;
    if (activation == Activation::swiglu) {
      const Var a = matmul(X, tape.use(*store.find("W_gate"))), c = matmul(X, tape.use(*store.find("W_up")));
      want = matmul(mul(mul(a, sigmoid(a)), c), tape.use(*store.find("W_down")));
    } else {
      const Var U = add_row(matmul(X, tape.use(*store.find("W_1"))), tape.use(*store.find("b_1")));
      const Var H = activation == Activation::relu ? relu(U) : activation == Activation::gelu ? gelu(U) : gelu_tanh(U);
      want = add_row(matmul(H, tape.use(*store.find("W_2"))), tape.use(*store.find("b_2")));
    }
    CHECK(difference(Y.value(), want.value(), kRounding) == "");
    CHECK(tape.find("U").shape() == Shape{4, 5});
    CHECK(tape.find("H").shape() == Shape{4, 5});
    CHECK(tape.find("Y").id == Y.id);
  }
}

TEST_CASE("feed-forward: gradients agree with differences, with every activation") {
  Rng rng(5);
  for (Activation activation : kAll) {
    for (Bias bias : {Bias::yes, Bias::no}) {
      if (activation == Activation::swiglu && bias == Bias::yes) continue;
      CAPTURE(int(activation), bias == Bias::yes);
      ParamStore store;
      const FeedForward net(store, "", 3, 5, activation, rng, bias);
      set_all(store, rng);
      const Matrix dY = random_matrix({4, 3}, rng);
      Tape tape;
      const Var X = tape.input(random_matrix({4, 3}, rng), "X");
      const Var Y = net(X);
      if (activation == Activation::relu) {  // differences must not cross the kink
        const Mat U = tape.find("U").value();
        for (int i = 0; i < 4; ++i)
          for (int j = 0; j < 5; ++j) REQUIRE(std::fabs(double(U(i, j))) > 0.02);
      }
      tape.backward(Y, dY);
      CHECK(gradient_gap(tape, Y, dY, X).ok());
      for (const Param& p : store.all) CHECK(gradient_gap(tape, Y, dY, tape.find(p.name.c_str())).ok());
    }
  }
}

TEST_CASE("feed-forward: PyTorch's values and gradients") {
  const ReferenceFile file("layers.txt");
  const std::pair<Activation, std::string> nets[] = {
      {Activation::relu, "relu"}, {Activation::gelu, "gelu"}, {Activation::gelu_tanh, "gelu_tanh"}};
  for (const auto& [activation, name] : nets) {
    CAPTURE(name);
    Rng rng(1);
    ParamStore store;
    const FeedForward net(store, "", 3, 5, activation, rng);
    for (Param& p : store.all) p.set(file["ffn." + p.name]);
    Tape tape;
    const Var X = tape.input(file["ffn.X"], "X");
    const Var Y = net(X);
    tape.backward(Y, file["ffn.dY"]);
    CHECK(difference(Y.value(), file[name + ".Y"], kRounding) == "");
    CHECK(difference(X.grad(), file[name + ".dX"], kRounding) == "");
    for (const Param& p : store.all) CHECK(difference(p.grad, file[name + ".d" + p.name], kRounding) == "");
  }
}

TEST_CASE("feed-forward: activations and their slopes to ten digits") {
  const Matrix x{{-3, -1, -0.5, 0, 0.5, 1, 3}}, ones{{1, 1, 1, 1, 1, 1, 1}};
  struct Row {
    Var (*op)(Var, Where);
    Matrix y, slope;
  };
  const Row rows[] = {
      {gelu,
       {{-0.0040496941, -0.1586552539, -0.1542687694, 0, 0.3457312306, 0.8413447461, 2.9959503059}},
       {{-0.0119456472, -0.0833154706, 0.1325048753, 0.5, 0.8674951247, 1.0833154706, 1.0119456472}}},
      {gelu_tanh,
       {{-0.0036373921, -0.1588080094, -0.1542859902, 0, 0.3457140098, 0.8411919906, 2.9963626079}},
       {{-0.0115841666, -0.0829640838, 0.1326300965, 0.5, 0.8673699035, 1.0829640838, 1.0115841666}}},
      {silu,
       {{-0.1422776195, -0.2689414214, -0.1887703344, 0, 0.3112296656, 0.7310585786, 2.8577223805}},
       {{-0.0881041060, 0.0723294881, 0.2600388127, 0.5, 0.7399611873, 0.9276705119, 1.0881041060}}},
  };
  for (const Row& row : rows) {
    Tape tape;
    const Var X = tape.input(x, "x");
    const Var y = row.op(X, {});
    tape.backward(y, ones);
    CHECK(difference(y.value(), row.y) == "");
    CHECK(difference(X.grad(), row.slope) == "");
  }
}

TEST_CASE("feed-forward: gelu and its tanh form differ by at most 4.7e-4, near 2.699") {
  double worst = 0, at = 0;
  for (int i = 0; i <= 5000; ++i) {
    const double x = i * 0.001;
    const double gap = std::fabs(double(value(Function::gelu, Real(x))) - double(value(Function::gelu_tanh, Real(x))));
    if (gap > worst) worst = gap, at = x;
  }
  CHECK(worst == Approx(0.000473235519323).margin(kDouble ? 1e-10 : 1e-6));
  CHECK(at == Approx(2.699).margin(kDouble ? 0.0015 : 0.1));
}

TEST_CASE("feed-forward: swiglu, a worked example to ten digits") {
  Rng rng(1);
  ParamStore store;
  const FeedForward net(store, "", 4, 3, Activation::swiglu, rng);
  net.W_gate->set(cosines({4, 3}, 0.5, 1, 2));
  net.up.W->set(sines({4, 3}, 0.5, 2, 1, 1));
  net.down.W->set(cosines({3, 4}, 0.5, 3, -1, 0.5));
  Tape tape;
  const Var Y = net(tape.input(sines({3, 4}, 1, 3, 1), "X"));
  CHECK(difference(Y.value(), Matrix{{-0.0529711979, -0.0430972619, 0.0064000980, 0.0500132373},
                                     {-0.0468329645, -0.0373988145, 0.0064196331, 0.0443358996},
                                     {0.0194918061, 0.0179308445, -0.0001156528, -0.0180558195}}) == "");
}

TEST_CASE("feed-forward: a row does not see the other rows") {
  Rng rng(4);
  for (Activation activation : kAll) {
    ParamStore store;
    const FeedForward net(store, "", 3, 5, activation, rng);
    const Matrix x = random_matrix({4, 3}, rng);
    Tape tape;
    const Var all = net(tape.input(x, "X"));
    for (int i = 0; i < 4; ++i) {
      const Var one = net(tape.input(Matrix(x.view().block(i, 0, 1, 3)), "row"));
      CHECK(difference(one.value(), all.value().block(i, 0, 1, 3), kRounding) == "");
    }
  }
}
