// Random numbers that are the same on every platform: the generator and both transforms are written here,
// because the std:: distributions differ from one standard library to the next.
//
// PCG32 (XSH-RR 64/32), M. E. O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
// Algorithms for Random Number Generation", section 6.3.
#pragma once

#include <cmath>
#include <cstdint>

namespace glass {

class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t sequence = 54) : increment_(sequence << 1 | 1) {
    bits();
    state_ += seed;
    bits();
  }

  std::uint32_t bits() {
    const std::uint64_t old = state_;
    state_ = old * 6364136223846793005u + increment_;
    const std::uint32_t xorshifted = std::uint32_t(((old >> 18) ^ old) >> 27);
    const std::uint32_t turn = std::uint32_t(old >> 59);
    return xorshifted >> turn | xorshifted << (-turn & 31);
  }

  double uniform() {  // in [0, 1), 53 bits
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
