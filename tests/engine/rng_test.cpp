// Random numbers are the same on every platform, so their first ones can be written down.
#include "engine/rng.h"

#include <algorithm>

#include "tests/catch.h"

using glass::Rng;

TEST_CASE("PCG32 gives the numbers of its authors' demonstration") {  // pcg32-demo of pcg-random.org, round 1
  Rng rng(42, 54);
  for (std::uint32_t want : {0xa15c02b7u, 0x7b47f409u, 0xba1d3330u, 0x83d2f293u, 0xbfa4784bu, 0xcbed606eu}) {
    CHECK(rng.bits() == want);
  }
}

TEST_CASE("J04 the first uniform and normal numbers of seed 42") {  // computed by a Python program
  Rng uniform(42), normal(42);
  for (double want : {0.6303102205231708, 0.7270080560154601, 0.7486033616113921, 0.74912474618867, 0.8989134046653088,
                      0.19866222099312902, 0.9276185124691745, 0.17042659761169254}) {
    CHECK(uniform.uniform() == want);
  }
  for (double want : {-0.20309084057841564, -0.009138607462261996, 0.6786731212481596, 1.0986188548604088,
                      0.504721589883386, -0.2501093328029496, 1.2238898342778612, -0.9569234083044402}) {
    CHECK(normal.normal() == Approx(want).epsilon(1e-14));  // the last digit of log and cos is the C library's
  }
}

TEST_CASE("a jump stands where as many draws would") {
  for (std::uint64_t draws : {0u, 1u, 2u, 3u, 5u, 64u, 1000u, 4097u}) {
    Rng steps(7, 11), jump(7, 11);
    for (std::uint64_t i = 0; i < draws; ++i) steps.bits();
    jump.skip(glass::Jump(draws));
    INFO(draws);
    CHECK(jump.bits() == steps.bits());
    CHECK(jump.bits() == steps.bits());
  }
}

TEST_CASE("seeds and sequences give different numbers, and the same seed the same") {
  CHECK(Rng(1).bits() == Rng(1).bits());
  CHECK(Rng(1).bits() != Rng(2).bits());
  CHECK(Rng(1, 54).bits() != Rng(1, 55).bits());
}

TEST_CASE("uniform and normal numbers have the right mean and variance") {
  constexpr int n = 100000;
  Rng rng(7);
  double u_sum = 0, u_squares = 0, z_sum = 0, z_squares = 0, z_fourth = 0, low = 1, high = 0;
  for (int i = 0; i < n; ++i) {
    const double u = rng.uniform(), z = rng.normal();
    low = std::min(low, u), high = std::max(high, u);
    u_sum += u, u_squares += u * u;
    z_sum += z, z_squares += z * z, z_fourth += z * z * z * z;
  }
  CHECK(low >= 0);
  CHECK(high < 1);
  CHECK(u_sum / n == Approx(0.5).margin(0.005));  // five standard errors: 5 / sqrt(12 n)
  CHECK(u_squares / n == Approx(1.0 / 3).margin(0.005));
  CHECK(z_sum / n == Approx(0).margin(0.016));      // 5 / sqrt(n)
  CHECK(z_squares / n == Approx(1).margin(0.023));  // 5 sqrt(2 / n)
  CHECK(z_fourth / n == Approx(3).margin(0.16));    // 3 for a bell curve; 5 sqrt(96 / n)
}

TEST_CASE("uniform numbers of a range stay inside it") {
  Rng rng(3);
  double low = 5, high = -2;
  for (int i = 0; i < 1000; ++i) {
    const double u = rng.uniform(-2, 5);
    low = std::min(low, u), high = std::max(high, u);
  }
  CHECK(low >= -2);
  CHECK(low < -1.9);
  CHECK(high < 5);
  CHECK(high > 4.9);
}
