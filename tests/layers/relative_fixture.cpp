#include "tests/layers/relative_fixture.h"

#include <limits>

#include "engine/gradcheck.h"
#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/variant_grid.h"
#include "tests/reference_file.h"

namespace glass {
inline namespace GLASS_PRECISION {

FiveTokens::FiveTokens(const Variant& variant, const Mask* allowed, int heads) : dY(cosines({5, 3}, 1, 2, 3, 1)) {
  Q = tape.input(sines({5, 4}, 1, 3, 1), "Q"), K = tape.input(cosines({5, 4}, 1, 2, -1), "K"),
  V = tape.input(sines({5, 3}, 1, 1, 2, 0.5), "V");
  Y = variant(Q, K, V, {.allowed = allowed, .heads = heads});
  tape.backward(Y, dY);
}

double FiveTokens::fingerprint_of_gradient(const char* line) { return fingerprint(tape.find(line).grad()); }

void check_decoding(const Variant& variant) {
  const Mask causal = Mask::causal(5, 5);
  FiveTokens all(variant, &causal);
  for (int t = 0; t < 5; ++t) {
    Tape& tape = all.tape;
    const Var y = variant(tape.rows(all.Q, t, 1), tape.rows(all.K, 0, t + 1), tape.rows(all.V, 0, t + 1));
    CHECK(difference(y.value(), all.Y.value().block(t, 0, 1, 3), kRounding) == "");
  }
}

void check_against_torch(const Variant& variant, const std::string& name) {
  const ReferenceFile torch("positions.txt");
  const Mask causal = Mask::causal(4, 6);
  HeadsRun run(variant, sines({4, 8}, 1, 3, 1), cosines({6, 8}, 1, 2, -1), sines({6, 8}, 1, 1, 2, 0.5),
               {.heads = 2, .mask = &causal}, cosines({4, 8}, 1, 2, 3, 1));
  INFO(name);
  CHECK(difference(run.Y.value(), torch[name + ".Y"]) == "");
  CHECK(difference(run.Q.grad(), torch[name + ".dQ"]) == "");
  CHECK(difference(run.K.grad(), torch[name + ".dK"]) == "");
  CHECK(difference(run.V.grad(), torch[name + ".dV"]) == "");
}

void check_hidden_nan(const Variant& variant) {
  const Mask mask = Mask::visible({true, true, false, true, true}, 5);
  const Matrix q = sines({5, 4}, 1, 3, 1), k = cosines({5, 4}, 1, 2, -1), v = sines({5, 4}, 1, 1, 2, 0.5),
               dY = cosines({5, 4}, 1, 2, 3, 1);
  Matrix k_nan(k), v_nan(v);
  for (int c = 0; c < 4; ++c) k_nan(2, c) = v_nan(2, c) = std::numeric_limits<Real>::quiet_NaN();
  HeadsRun clean(variant, q, k, v, {.mask = &mask}, dY), dirty(variant, q, k_nan, v_nan, {.mask = &mask}, dY);
  CHECK(bit_difference(dirty.Y.value(), clean.Y.value()) == "");
  CHECK(bit_difference(dirty.Q.grad(), clean.Q.grad()) == "");
  CHECK(bit_difference(dirty.K.grad(), clean.K.grad()) == "");
  CHECK(bit_difference(dirty.V.grad(), clean.V.grad()) == "");
}

void check_parameter(const Variant& variant, Param& p) {
  for (const bool masked : {false, true}) {
    const Mask causal = Mask::causal(5, 5);
    cpu_backend().fill(p.grad, 0);
    FiveTokens run(variant, masked ? &causal : nullptr);
    CHECK(gradient_gap(run.tape, run.Y, run.dY, run.tape.find(p.name.c_str())).ok());
  }
}

}  // namespace GLASS_PRECISION
}  // namespace glass
