// Single ops against PyTorch: tests/reference/ops.py. The naive references are ours as the ops are; these are not.
#include "engine/ops.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;

struct TorchCase {
  const char* name;
  std::vector<bool> sent_to;  // for each input: does it get a gradient?
  Var (*build)(const Var* x);
};

static Var against_classes(Var x, Var classes, double smoothing) {
  std::vector<int> targets;
  for (int i = 0; i < classes.shape().rows; ++i) targets.push_back(int(classes.value()(i, 0)));
  return cross_entropy(x, targets.data(), int(targets.size()), {-100, smoothing});
}

static const TorchCase cases[] = {
    {"gelu", {true}, [](const Var* x) { return gelu(x[0]); }},
    {"gelu_tanh", {true}, [](const Var* x) { return gelu_tanh(x[0]); }},
    {"silu", {true}, [](const Var* x) { return silu(x[0]); }},
    {"softplus", {true}, [](const Var* x) { return softplus(x[0]); }},
    {"sigmoid", {true}, [](const Var* x) { return sigmoid(x[0]); }},
    {"tanh", {true}, [](const Var* x) { return tanh(x[0]); }},
    {"log_softmax", {true}, [](const Var* x) { return log_softmax(x[0]); }},
    {"log_sum_exp", {true}, [](const Var* x) { return log_sum_exp(x[0]); }},
    {"layer_norm", {true, true, true}, [](const Var* x) { return layer_norm(x[0], x[1], x[2]); }},
    {"rms_norm", {true, true}, [](const Var* x) { return rms_norm(x[0], x[1]); }},
    {"cross_entropy", {true, false}, [](const Var* x) { return against_classes(x[0], x[1], 0); }},
    {"cross_entropy_smooth", {true, false}, [](const Var* x) { return against_classes(x[0], x[1], 0.1); }},
    {"bce_logits", {true, false}, [](const Var* x) { return bce_logits(x[0], x[1]); }},
    {"mse", {true, true}, [](const Var* x) { return mse(x[0], x[1]); }},
    {"kl", {false, true}, [](const Var* x) { return kl(x[0], x[1]); }},
    {"conv1d_causal", {true, true}, [](const Var* x) { return conv1d(x[0], x[1], 2); }},
    {"conv1d_centred", {true, true}, [](const Var* x) { return conv1d(x[0], x[1], 1); }},
};

TEST_CASE("single ops give PyTorch's values and gradients") {
  const ReferenceFile file("ops.txt");
  for (const TorchCase& c : cases) {
    DYNAMIC_SECTION(c.name) {
      const std::string name = c.name;
      Tape tape;
      std::vector<Var> x;
      for (bool sent : c.sent_to) {
        const Matrix& value = file[name + ".x" + std::to_string(x.size())];
        x.push_back(sent ? tape.input(value, "x") : tape.constant(value, "x"));
      }
      const Var y = c.build(x.data());
      CHECK(difference(y.value(), file[name + ".y"], kRounding) == "");

      tape.backward(y, file[name + ".dy"]);
      for (std::size_t i = 0; i < x.size(); ++i) {
        INFO("input " << i);
        if (c.sent_to[i]) CHECK(difference(x[i].grad(), file[name + ".dx" + std::to_string(i)], kRounding) == "");
      }
    }
  }
}
