// The fixture of linear, random-feature and low-rank attention: Q = sin(3i + j), K = cos(2i - j), V = sin(i + 2j + 0.5), dY = cos(2i + 3j + 1).
#pragma once

#include "layers/attention/variant.h"
#include "tests/catch.h"
#include "tests/compare.h"

namespace glass {
inline namespace GLASS_PRECISION {

struct OneHead {
  Tape tape;
  Matrix dY;
  Var Q, K, V, Y;

  OneHead(const Matrix& q, const Matrix& k, const Variant& variant, const Mask* allowed = nullptr) : dY(cosines({q.rows(), 3}, 1, 2, 3, 1)) {
    Q = tape.input(q, "Q"), K = tape.input(k, "K"), V = tape.input(sines({k.rows(), 3}, 1, 1, 2, 0.5), "V");
    Y = variant(Q, K, V, {.allowed = allowed});
    tape.backward(Y, dY);
  }
  explicit OneHead(const Variant& variant, const Mask* allowed = nullptr, int n = 5, int m = 5)
      : OneHead(sines({n, 4}, 1, 3, 1), cosines({m, 4}, 1, 2, -1), variant, allowed) {}

  void check_fingerprints(double of_dQ, double of_dK, double of_dV) const {
    CHECK(fingerprint(Q.grad()) == Approx(of_dQ).epsilon(kPrinted.relative).margin(kPrinted.absolute));
    CHECK(fingerprint(K.grad()) == Approx(of_dK).epsilon(kPrinted.relative).margin(kPrinted.absolute));
    CHECK(fingerprint(V.grad()) == Approx(of_dV).epsilon(kPrinted.relative).margin(kPrinted.absolute));
  }
};

}  // namespace GLASS_PRECISION
}  // namespace glass
