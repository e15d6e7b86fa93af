// What every way of attending promises: what it does not support it refuses, before anything is recorded.
#include "layers/attention/variant.h"

#include "layers/attention/plain.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {
// A variant that can do only what it is told, and otherwise is plain attention.
struct Choosy final : Variant {
  Supports can;
  const char* name() const override { return "choosy"; }
  Supports supports() const override { return can; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call& call) const override { return plain_attention(Q, K, V, call); }
};
}  // namespace

static bool refuses(const Choosy& variant, int n, int m, const Call& call, const std::string& why = "") {
  Tape tape;
  const Var Q = tape.constant(Matrix(Shape{n, 2}), "Q"), K = tape.constant(Matrix(Shape{m, 2}), "K");
  try {
    variant(Q, K, K, call);
    return false;
  } catch (const ShapeError& e) {
    const std::string message = e.what();
    CHECK(message.find("choosy") != std::string::npos);  // says who refuses, what, and for which sizes
    CHECK(message.find(why) != std::string::npos);
    CHECK(message.find(std::to_string(n)) != std::string::npos);
    CHECK(message.find(std::to_string(m)) != std::string::npos);
    CHECK(tape.nodes.size() == 2);
    return true;
  }
}

static const Mask kCausal = Mask::causal(3, 3), kPadding = Mask::visible({true, false, true}, 3), kOpen(3, 3);

static Mask one_pair_hidden() {
  Mask m(3, 3);
  m.set(2, 1, false);
  return m;
}

TEST_CASE("variant: each kind of mask can be refused on its own") {
  const Mask both = kCausal & kPadding, pair = one_pair_hidden();
  struct Row {
    Supports can;
    bool causal, padding, both, pair;  // refused?
  };
  const Row rows[] = {{{}, false, false, false, false},
                      {{.causal = false}, true, false, true, false},
                      {{.padding = false}, false, true, false, false},
                      {{.any_mask = false}, false, false, false, true},
                      {{.causal = false, .padding = false, .any_mask = false}, true, true, true, true}};
  for (const Row& row : rows) {
    Choosy variant;
    variant.can = row.can;
    CAPTURE(row.can.causal, row.can.padding, row.can.any_mask);
    CHECK(refuses(variant, 3, 3, {.allowed = &kCausal}) == row.causal);
    CHECK(refuses(variant, 3, 3, {.allowed = &kPadding}) == row.padding);
    CHECK(refuses(variant, 3, 3, {.allowed = &both}) == row.both);
    CHECK(refuses(variant, 3, 3, {.allowed = &pair}) == row.pair);
    CHECK(!refuses(variant, 3, 3, {.allowed = &kOpen}));  // a mask that hides nothing is no mask
    CHECK(!refuses(variant, 3, 3, {}));
  }
}

TEST_CASE("variant: lengths and weights can be refused, and the message says why") {
  Choosy variant;
  variant.can.lengths = false;
  CHECK(refuses(variant, 2, 3, {}, "as many queries as keys"));
  CHECK(!refuses(variant, 3, 3, {}));
  variant.can = {.weights = false};
  std::vector<Var> weights;
  CHECK(refuses(variant, 3, 3, {.weights = &weights}, "no matrix of weights"));
  CHECK(!refuses(variant, 2, 3, {}));
  CHECK(weights.empty());
}

TEST_CASE("variant: a mask of another size is refused by every variant") {
  CHECK(refuses(Choosy(), 3, 2, {.allowed = &kCausal}, "3 x 3"));
  CHECK(refuses(Choosy(), 2, 3, {.allowed = &kCausal}, "3 x 3"));
}
