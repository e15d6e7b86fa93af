// Efficient attention: by numbers that were computed elsewhere, and what it is not.
#include "layers/attention/efficient.h"

#include "tests/catch.h"
#include "tests/compare.h"
#include "tests/layers/efficient_fixture.h"
#include "tests/layers/variant_grid.h"

using namespace glass;

TEST_CASE("efficient attention: to ten digits") {
  OneHead head{EfficientAttention()};
  CHECK(difference(head.Y.value(), Matrix{{0.0987967040, -0.1456413676, 0.0224196847},
                                          {0.1213427281, -0.1741302086, 0.0235847429},
                                          {0.1126254128, -0.1636103110, 0.0235464139},
                                          {0.1035756279, -0.1508128324, 0.0219449384},
                                          {0.1283064091, -0.1839863662, 0.0248242794}}) == "");
  head.check_fingerprints(-0.12487748726, -0.0339812399289, 0.00114815081153);
}

TEST_CASE("efficient attention: over padding, batches, heads and lengths") { check_variant(EfficientAttention()); }

TEST_CASE("efficient attention: the matrix that is never made has rows that sum to 1, and is not that of softmax") {
  OneHead head{EfficientAttention()}, dense(plain_attention);
  const Mat R = head.tape.find("R").value(), M = head.tape.find("M").value();
  double apart = 0;
  for (int i = 0; i < 5; ++i) {
    double sum = 0;
    for (int j = 0; j < 5; ++j)
      for (int c = 0; c < 4; ++c) sum += double(R(i, c)) * double(M(c, j));
    CHECK(sum == Approx(1).epsilon(kRounding.relative));
    for (int c = 0; c < 3; ++c) apart = std::max(apart, std::fabs(double(head.Y.value()(i, c) - dense.Y.value()(i, c))));
  }
  CHECK(apart == Approx(0.196156810069).epsilon(kPrinted.relative));
}

TEST_CASE("efficient attention: a softmax over channels of Q (K^T V) is another thing, and no attention at all") {
  OneHead dense(plain_attention);
  Tape tape;
  const Var Q = tape.input(dense.Q.value(), "Q"), K = tape.input(dense.K.value(), "K"), V = tape.input(dense.V.value(), "V");
  const Var garbled = softmax(scale(matmul(Q, matmul_tn(K, V)), 0.25));
  CHECK(difference(garbled.value().block(0, 0, 1, 3), Matrix{{0.2747430662, 0.4375159022, 0.2877410316}}) == "");
  CHECK(difference(dense.Y.value().block(0, 0, 1, 3), Matrix{{0.0703820429, -0.1192105612, 0.0288361529}}) == "");
}

TEST_CASE("efficient attention: padded keys count as if they were not there") {
  const Mask first_three = Mask::visible({true, true, true, false, false}, 5);
  const EfficientAttention variant;
  CHECK(difference(OneHead(variant, &first_three).Y.value(), OneHead(variant, nullptr, 5, 3).Y.value(), kRounding) == "");
}
