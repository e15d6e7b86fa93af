// The self-attention layer with biases against PyTorch: tests/reference/listing_self_attention.py.
#include "layers/attention/self_attention.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;

static const ReferenceFile& listing() {
  static const ReferenceFile file("listing_self_attention.txt");
  return file;
}

namespace {
// A layer with the listing's parameters, run forward and backward.
struct Run {
  Tape tape;
  ParamStore store;
  Rng rng{1};
  SelfAttention layer{store, 4, 3, 5, rng, Bias::yes};
  Var X, Y;

  explicit Run(SelfAttention::Form form) {
    layer.form = form;
    for (Param& p : store.all) p.set(listing()[p.name]);
    X = tape.input(listing()["X"], "X");
    Y = layer(X);
    tape.backward(Y, listing()["dZ"]);
  }
};
}  // namespace

static std::string against_listing(Mat got, const char* name) { return difference(got, listing()[name], kRounding); }

static void check_ends(Run& run) {  // what both forms have
  CHECK(run.store.all.size() == 6);
  for (const char* name : {"Q", "K", "V"}) {
    CAPTURE(name);
    CHECK(against_listing(run.tape.find(name).value(), name) == "");
    CHECK(against_listing(run.tape.find(name).grad(), ("d" + std::string(name)).c_str()) == "");
  }
  CHECK(against_listing(run.Y.value(), "Z") == "");
  for (Param& p : run.store.all) {
    CAPTURE(p.name);
    CHECK(against_listing(p.grad, ("d" + p.name).c_str()) == "");
  }
  CHECK(against_listing(run.X.grad(), "dX") == "");
}

TEST_CASE("self-attention in steps gives PyTorch's values and gradients") {
  Run run(SelfAttention::Form::steps);
  check_ends(run);
  CHECK(against_listing(run.tape.find("E").value(), "scores") == "");
  CHECK(against_listing(run.tape.find("A").value(), "A") == "");
  CHECK(against_listing(run.tape.find("E").grad(), "dscores") == "");
  CHECK(against_listing(run.tape.find("A").grad(), "dA") == "");
}

TEST_CASE("self-attention in one line gives PyTorch's values and gradients") {
  Run run(SelfAttention::Form::fused);
  check_ends(run);
  CHECK(against_listing(weights_of(run.Y).value(), "A") == "");
}
