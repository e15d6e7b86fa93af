// Attention as a variant: the parts that others are made of give the definition again, and dropout on the weights.
#include "layers/attention/plain.h"

#include <limits>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

namespace {
// Plain attention out of the parts, as another variant would use them.
struct FromParts final : Variant {
  const char* name() const override { return "from parts"; }

 protected:
  Var attend(Var Q, Var K, Var V, const Call& call) const override {
    K = hide_keys(K, call.allowed), V = hide_keys(V, call.allowed);
    return mix(scaled_scores(Q, K, default_scale(Q)), V, call);
  }
};
}  // namespace

TEST_CASE("plain: its parts, put together, are the definition, bit for bit") {
  Rng rng(2);
  const Matrix q = random_matrix({3, 4}, rng), k = random_matrix({5, 4}, rng), v = random_matrix({5, 2}, rng),
               dY = random_matrix({3, 2}, rng);
  Mask seen(3, 5);
  seen.set(0, 1, false), seen.set(2, 1, false), seen.set(1, 1, false), seen.set(2, 4, false);  // nobody sees key 1
  for (const Mask* mask : {static_cast<const Mask*>(nullptr), static_cast<const Mask*>(&seen)}) {
    HeadsRun parts(FromParts(), q, k, v, {.mask = mask}, dY), plain(plain_attention, q, k, v, {.mask = mask}, dY);
    CHECK(bit_difference(parts.Y.value(), plain.Y.value()) == "");
    CHECK(bit_difference(parts.Q.grad(), plain.Q.grad()) == "");
    CHECK(bit_difference(parts.K.grad(), plain.K.grad()) == "");
    CHECK(bit_difference(parts.V.grad(), plain.V.grad()) == "");
  }
  check_variant(FromParts(), {.same_as_plain = true, .lengths = {1, 3}});
}

TEST_CASE("plain: in evaluation, attention with dropout is attention") {
  Rng rng(4);
  Dropout dropout(0.5, rng);
  dropout.training = false;
  check_variant(Dropped(dropout), {.same_as_plain = true, .lengths = {1, 3}});
}

TEST_CASE("plain: in training, dropout takes weights away and scales the others; the gradient follows") {
  Rng rng(5);
  const Matrix q = random_matrix({6, 4}, rng), k = random_matrix({6, 4}, rng), v = random_matrix({6, 3}, rng),
               dY = random_matrix({6, 3}, rng);
  Dropout dropout(0.25, rng);
  std::vector<Var> used, whole;
  const Mask causal = Mask::causal(6, 6);
  HeadsRun run(Dropped(dropout), q, k, v, {.mask = &causal, .weights = &used}, dY);
  HeadsRun plain(plain_attention, q, k, v, {.mask = &causal, .weights = &whole}, dY);
  const Mat A = used.at(0).value(), all = whole.at(0).value();
  int gone = 0, kept = 0;
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j <= i; ++j) {
      (A(i, j) == 0 ? gone : kept) += 1;
      if (A(i, j) != 0) CHECK(A(i, j) == Approx(all(i, j) / 0.75));
    }
  }
  CHECK(gone > 0);
  CHECK(kept > gone);
  for (const Var x : {run.Q, run.K, run.V}) CHECK(gradient_gap(run.tape, run.Y, dY, x).ok());
}

TEST_CASE("plain: what a key holds that no query may see does not matter, not even NaN") {
  Rng rng(6);
  const Matrix q = random_matrix({3, 4}, rng), k = random_matrix({5, 4}, rng), v = random_matrix({5, 2}, rng);
  const Matrix dY = random_matrix({3, 2}, rng);
  Matrix junk_k(k), junk_v(v);
  for (int c = 0; c < 4; ++c) junk_k(2, c) = std::numeric_limits<Real>::quiet_NaN();
  for (int c = 0; c < 2; ++c) junk_v(2, c) = std::numeric_limits<Real>::infinity();
  const Mask seen = Mask::visible({true, true, false, true, true}, 3);
  Dropout off(0, rng);
  const FromParts parts;
  const Dropped dropped(off);
  for (const Variant* form :
       {static_cast<const Variant*>(&plain_attention), static_cast<const Variant*>(&fused_attention),
        static_cast<const Variant*>(&parts), static_cast<const Variant*>(&dropped)}) {
    CAPTURE(form->name());
    HeadsRun clean(*form, q, k, v, {.mask = &seen}, dY), junk(*form, q, junk_k, junk_v, {.mask = &seen}, dY);
    CHECK(bit_difference(junk.Y.value(), clean.Y.value()) == "");
    CHECK(bit_difference(junk.Q.grad(), clean.Q.grad()) == "");
    CHECK(bit_difference(junk.K.grad(), clean.K.grad()) == "");
    CHECK(bit_difference(junk.V.grad(), clean.V.grad()) == "");
  }
}
