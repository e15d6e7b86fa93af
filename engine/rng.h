// Random numbers that are the same on every platform: the generator and both transforms are written here,
// because the std:: distributions differ from one standard library to the next.
//
// PCG32 (XSH-RR 64/32), M. E. O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
// Algorithms for Random Number Generation", section 6.3.
#pragma once

#include <cmath>
#include <cstdint>

#include "engine/both.h"

namespace glass {

// So many draws at once. One draw is x ← a x + c, n of them are x ← aⁿ x + (1 + a + ... + aⁿ⁻¹) c, and both numbers come by
// doubling: F. B. Brown 1994, "Random Number Generation with Arbitrary Strides". They are the same for every sequence.
struct Jump {
  std::uint64_t power = 1, sum = 0;
  GLASS_BOTH explicit Jump(std::uint64_t draws) {
    std::uint64_t a = 6364136223846793005u, s = 1;  // of 1, 2, 4, ... draws
    for (; draws; draws >>= 1, s += s * a, a *= a) {
      if (draws & 1) sum = sum * a + s, power *= a;
    }
  }
};

class Rng {
 public:
  GLASS_BOTH explicit Rng(std::uint64_t seed, std::uint64_t sequence = 54) : increment_(sequence << 1 | 1) {
    bits();
    state_ += seed;
    bits();
  }

  GLASS_BOTH void skip(Jump j) { state_ = state_ * j.power + increment_ * j.sum; }

  GLASS_BOTH std::uint32_t bits() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005u + increment_;
    const std::uint32_t xorshifted = std::uint32_t(((old >> 18) ^ old) >> 27);
    const std::uint32_t turn = std::uint32_t(old >> 59);
    return xorshifted >> turn | xorshifted << (-turn & 31);
  }

  GLASS_BOTH double uniform() {  // in [0, 1), 53 bits
    const std::uint64_t high = bits(), low = bits();
    return double((high << 32 | low) >> 11) * 0x1p-53;
  }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }

  double normal() {  // Box and Muller 1958; 1 - u is never 0
    const double u = 1 - uniform(), v = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
  }

 private:
  std::uint64_t state_ = 0, increment_;
};

}  // namespace glass
