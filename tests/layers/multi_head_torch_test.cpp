// Several heads with biases, masks and a batch of two against PyTorch's nn.MultiheadAttention:
// tests/reference/multi_head.py.
#include "layers/attention/multi_head.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/reference_file.h"

using namespace glass;

static const ReferenceFile& torch() {
  static const ReferenceFile file("multi_head.txt");
  return file;
}

static std::string against_torch(Mat got, const std::string& name) { return difference(got, torch()[name], kRounding); }

// `masks`: one for each of the two sequences.
static void check_against_torch(const std::string& set, int C, int C_z, int heads, const Mask* masks,
                                const Variant& variant) {
  CAPTURE(set, variant.name());
  ParamStore store;
  Rng rng(1);
  MultiHeadAttention layer(store, "", C, heads, rng, Bias::yes, 0, C_z);
  layer.variant = &variant;
  for (Param& p : store.all) p.set(torch()[set + p.name]);
  CHECK(store.all.size() == 8);

  Tape tape;
  std::vector<Var> weights;
  const Var X = tape.input(torch()[set + "X"], "X"), Z = C_z ? tape.input(torch()[set + "Z"], "Z") : X;
  const Var Y = layer(X, Z, {.batch = 2, .mask = masks, .mask_each = true, .weights = &weights});
  tape.backward(Y, torch()[set + "dY"]);
  CHECK(against_torch(Y.value(), set + "Y") == "");
  CHECK(against_torch(X.grad(), set + "dX") == "");
  if (C_z) CHECK(against_torch(Z.grad(), set + "dZ") == "");
  for (Param& p : store.all) {
    CAPTURE(p.name);
    CHECK(against_torch(p.grad, set + "d" + p.name) == "");
  }
  const Var A = concat_rows(weights.data(), int(weights.size()));  // sequence by sequence, head by head
  CHECK(against_torch(A.value(), set + "A") == "");
}

TEST_CASE("multi-head attention gives PyTorch's values, weights and gradients, causal and padded") {
  const Mask causal = Mask::causal(4, 4);
  const Mask masks[] = {causal, causal & Mask::visible({true, true, true, false}, 4)};
  for (const Variant* form :
       {static_cast<const Variant*>(&plain_attention), static_cast<const Variant*>(&fused_attention)}) {
    check_against_torch("self.", 6, 0, 3, masks, *form);
  }
}

TEST_CASE("multi-head cross-attention gives PyTorch's values, weights and gradients, with other widths and lengths") {
  const Mask masks[] = {Mask::visible({true, true, true, true, false}, 3), Mask(3, 5)};
  for (const Variant* form :
       {static_cast<const Variant*>(&plain_attention), static_cast<const Variant*>(&fused_attention)}) {
    check_against_torch("cross.", 6, 4, 2, masks, *form);
  }
}
