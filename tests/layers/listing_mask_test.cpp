// Causal self-attention with biases against PyTorch: tests/reference/listing_mask.py.
#include "layers/attention/self_attention.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;

static const ReferenceFile& listing() {
  static const ReferenceFile file("listing_mask.txt");
  return file;
}

static std::string against_listing(Mat got, const std::string& name) {
  return difference(got, listing()[name], kRounding);
}

namespace {
// A layer with the listing's parameters, run forward and backward under a causal mask.
struct Run {
  Tape tape;
  ParamStore store;
  Rng rng{1};
  SelfAttention layer{store, 4, 3, 2, rng, Bias::yes};
  Mask causal = Mask::causal(5, 5);
  Var X, Y;

  explicit Run(SelfAttention::Form form) {
    layer.form = form;
    for (Param& p : store.all) p.set(listing()[p.name]);
    X = tape.input(listing()["X"], "X");
    Y = layer(X, &causal);
    tape.backward(Y, listing()["dZ"]);
  }
};
}  // namespace

TEST_CASE("the causal mask is the lower triangle of the listing") {
  const Mask causal = Mask::causal(5, 5);
  const Matrix& tril = listing()["mask"];
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 5; ++j) CHECK(causal(i, j) == (tril(i, j) == 1));
}

TEST_CASE("causal self-attention gives PyTorch's values and gradients, in both forms") {
  for (SelfAttention::Form form : {SelfAttention::Form::steps, SelfAttention::Form::fused}) {
    CAPTURE(int(form));
    Run run(form);
    CHECK(against_listing(run.Y.value(), "Z") == "");
    for (const char* name : {"Q", "K", "V"}) {
      CAPTURE(name);
      CHECK(against_listing(run.tape.find(name).value(), name) == "");
      CHECK(against_listing(run.tape.find(name).grad(), "d" + std::string(name)) == "");
    }
    CHECK(run.store.all.size() == 6);
    for (Param& p : run.store.all) {
      CAPTURE(p.name);
      CHECK(against_listing(p.grad, "d" + p.name) == "");
    }
    CHECK(against_listing(run.X.grad(), "dX") == "");
  }
}

TEST_CASE("causal self-attention in steps: PyTorch's weights, and its gradient of the scores") {
  Run run(SelfAttention::Form::steps);
  CHECK(against_listing(run.tape.find("E").value(), "scores") == "");
  CHECK(against_listing(run.tape.find("A").value(), "A") == "");
  CHECK(against_listing(run.tape.find("A").grad(), "dA") == "");
  CHECK(against_listing(run.tape.find("E").grad(), "dscores") == "");
  Run fused(SelfAttention::Form::fused);
  CHECK(against_listing(weights_of(fused.Y).value(), "A") == "");
}
