// Theme H, linear attention: normalisers. Each test is named after its case.
#include <cmath>

#include "layers/attention/linear_attention.h"
#include "layers/attention/performer.h"
#include "tests/catch.h"
#include "tests/compare.h"

using namespace glass;

namespace {
struct Run {
  Tape tape;
  Var Q, K, V, Y;
  Run(const Variant& variant, const Matrix& q, const Matrix& k, const Matrix& v, const Mask* allowed, const Matrix& dY) {
    Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(v, "V");
    Y = variant(Q, K, V, {.allowed = allowed});
    tape.backward(Y, dY);
  }
};
}  // namespace

TEST_CASE("H07 linear attention has its normaliser, and a causal one where the mask is causal") {
  const Matrix q{{0, 1}, {-1, 2}, {0.5, -0.5}}, k{{1, 0}, {-2, 1}, {0, 0.25}}, v{{1, 2}, {3, -1}, {0, 4}}, dY{{1, 0}, {0, 1}, {1, -1}};
  const Mask causal = Mask::causal(3, 3);
  for (const LinearForm form : {LinearForm::quadratic, LinearForm::sums}) {
    const LinearAttention exact(form, 0);
    Run full(exact, q, k, v, nullptr, dY), past(exact, q, k, v, &causal, dY);
    CHECK(difference(full.Y.value(), Matrix{{1.410015737, 1.535380312}, {1.574081169, 1.286966913}, {1.078833158, 2.036827746}}) == "");
    CHECK(difference(past.Y.value(), Matrix{{1, 2}, {2.236474101, 0.1452888478}, {1.078833158, 2.036827746}}) == "");
    CHECK(difference(past.V.grad(), Matrix{{1.495350971, -0.1135880219}, {0.1944940623, 0.4237429885}, {0.3101549665, -0.3101549665}}) == "");
  }
}

TEST_CASE("H09 every key padded gives a row of zeros, and large keys a finite one") {
  const Matrix q = sines({3, 2}, 1, 3, 1), v = sines({3, 2}, 1, 1, 2, 0.5), dY = cosines({3, 2}, 1, 2, 3, 1);
  Rng rng(1);
  const Mask none = Mask::visible({false, false, false}, 3);
  const Performer performer(random_features(Draw::orthogonal, 8, 2, rng));
  for (const double eps : {0.0, 1e-6}) {
    for (const LinearForm form : {LinearForm::quadratic, LinearForm::sums}) {
      const LinearAttention linear(form, eps);
      for (const Variant* variant : {static_cast<const Variant*>(&linear), static_cast<const Variant*>(&performer)}) {
        Run padded(*variant, q, sines({3, 2}, 1, 2, 1), v, &none, dY);
        for (const Mat zero : {padded.Y.value(), padded.Q.grad(), padded.K.grad(), padded.V.grad()}) CHECK(all_zero(zero));
        for (const double size : {80.0, -80.0}) {
          Run large(*variant, q, cosines({3, 2}, size, 0.01, 0.02), v, nullptr, dY);
          for (const Mat finite : {large.Y.value(), large.Q.grad(), large.K.grad(), large.V.grad()})
            for (int i = 0; i < 3; ++i)
              for (int j = 0; j < 2; ++j) CHECK(std::isfinite(finite(i, j)));
        }
      }
    }
  }
}
