#include "layers/optim/schedule.h"

#include <cmath>
#include <limits>

#include "engine/errors.h"
#include "tests/catch.h"

using namespace glass;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("schedule: warm-up and cosine, a worked example to ten digits") {
  const WarmupCosine rate{1e-3, 10, 110, 1e-4};
  CHECK(rate(1) == Approx(0.0001).epsilon(1e-12));
  CHECK(rate(5) == Approx(0.0005).epsilon(1e-12));
  CHECK(rate(10) == Approx(0.001).epsilon(1e-12));
  CHECK(rate(35) == Approx(0.0008681980515).epsilon(1e-10));
  CHECK(rate(60) == Approx(0.00055).epsilon(1e-12));
  CHECK(rate(110) == 1e-4);
}

TEST_CASE("schedule: warm-up rises, the cosine falls, and the floor stays") {
  const WarmupCosine rate{2, 7, 40, 0.5};
  for (long t = 1; t < 60; ++t) {
    CAPTURE(t);
    if (t < 7) CHECK(rate(t + 1) - rate(t) == Approx(2.0 / 7));
    if (t >= 7 && t < 40) CHECK(rate(t + 1) < rate(t));
    if (t >= 40) CHECK(rate(t) == 0.5);
    CHECK(rate(t) > 0);
  }
  CHECK(rate(7) == 2);
  CHECK(rate(1000000000L) == 0.5);
}

TEST_CASE("schedule: no warm-up, and nothing but warm-up") {
  const WarmupCosine cosine{1, 0, 100};
  CHECK(cosine(1) == Approx((1 + std::cos(3.14159265358979323846 / 100)) / 2));
  CHECK(cosine(50) == Approx(0.5));
  CHECK(cosine(100) == 0);
  const WarmupCosine linear{1, 4, 4};
  CHECK(linear(1) == 0.25);
  CHECK(linear(4) == 1);
  CHECK(linear(5) == 0);
}

TEST_CASE("schedule: the original Transformer's, a worked example to ten digits") {
  const Noam rate{512};
  CHECK(rate(1) == Approx(1.746928107e-07).epsilon(1e-9));
  CHECK(rate(4000) == Approx(0.000698771243).epsilon(1e-9));
  CHECK(rate(16000) == Approx(0.0003493856215).epsilon(1e-9));
}

TEST_CASE("schedule: the original Transformer's peak is at the end of its warm-up") {
  const Noam rate{64, 10};
  CHECK(rate(10) == Approx(1 / std::sqrt(640.0)));
  for (long t = 1; t < 100; ++t) {
    CAPTURE(t);
    if (t < 10) CHECK(rate(t) == Approx(rate(1) * double(t)));
    if (t >= 10) CHECK(rate(t + 1) < rate(t));
    CHECK(rate(4 * t + 40) == Approx(rate(t + 10) / 2));
  }
}

TEST_CASE("schedule: updates are counted from 1; what does not fit is an error") {
  for (long t : {0L, -1L}) {
    CHECK_THROWS_AS((WarmupCosine{1, 10, 110}(t)), InputError);
    CHECK_THROWS_AS(Noam{512}(t), InputError);
  }
  CHECK_THROWS_WITH(Noam{512}(0), ContainsSubstring("counted from 1") && ContainsSubstring("update 0"));
  CHECK_THROWS_AS((WarmupCosine{1, 10, 9}(1)), InputError);
  CHECK_THROWS_AS((WarmupCosine{1, -1, 9}(1)), InputError);
  CHECK_THROWS_AS((Noam{0}(1)), InputError);
  CHECK_THROWS_AS((Noam{512, 0}(1)), InputError);
}
